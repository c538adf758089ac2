/* An endless tool list: each page has a new cursor and arrives in time. */
#include "base/text.h"
#include "env/mcp/mcp_internal.h"
#include "env/mcp/mcp_session.h"
#include "tap.h"

#include <stdio.h>
#include <time.h>

#define TIMEOUT_MS 20

static int pages;
static struct buf page;

static int answer_slowly(struct mcp_channel *c, const struct mcp_outgoing *q, struct mcp_reply *r,
                         struct error *err)
{
	struct timespec half = {.tv_nsec = TIMEOUT_MS / 2 * 1000000L};

	(void)c, (void)q, (void)err;
	nanosleep(&half, NULL);
	buf_clear(&page);
	buf_printf(&page, "{\"tools\":[{\"name\":\"t%d\"}],\"nextCursor\":\"%d\"}", pages, pages);
	pages++;
	*r = (struct mcp_reply){.got = MCP_GOT_RESULT, .message.result = buf_view(&page)};
	return 0;
}

static const struct mcp_channel_ops slow = {.name = "slow", .exchange = answer_slowly};

int main(void)
{
	struct io_conf io_conf = {.clock = clock_real(), .stop_fd = -1};
	struct event_queue events = {0};
	struct event event;
	struct mcp_session session = {.ops = &slow,
	                              .conf.events = &events,
	                              .conf.timeout_ms = TIMEOUT_MS,
	                              .request = BUF(BUF_MAX_SMALL),
	                              .marked = BUF(BUF_MAX_SMALL)};
	struct buf tools = BUF(BUF_MAX_MESSAGE);
	struct mcp_reply r;
	struct error err;

	page = BUF(BUF_MAX_SMALL);
	if (io_global_init(&err) || io_new(&io_conf, &session.conf.io, &err)) {
		printf("Bail out! %s\n", err.text);
		return 1;
	}
	is_int(mcp_list_tools(&session, &tools, &r, &err), 0, "the list is accepted");
	ok(events_take(&events, &event) && event.kind == EVENT_NOISE &&
	           find_in(event.detail, STR("does not end")),
	   "up to the limit");
	ok(pages > 1 && pages <= 11, "for five times the timeout: %d pages", pages);
	is_int(json_count(buf_view(&tools)), pages, "with the tools of all of them");
	io_free(session.conf.io);
	io_global_cleanup();
	buf_release(&session.request);
	events_release(&events);
	buf_release(&tools);
	buf_release(&page);
	return done();
}
