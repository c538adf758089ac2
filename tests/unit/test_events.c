/* The queue of events: order, and details that fit nowhere. */
#include "env/env.h"
#include "tap.h"
#include "trajectory/events.h"

static bool next_is(struct event_queue *q, const char *name, const char *detail)
{
	struct event e;

	return events_take(q, &e) && !strcmp(e.name, name) && str_is(e.detail, detail);
}

static void test_order(void)
{
	struct event_queue q = {0};

	events_push(&q, "noise", STR("{\"a\":1}"));
	events_push(&q, "retry", STR(EVENTS_RETRY));
	ok(next_is(&q, "noise", "{\"a\":1}"), "first in, first out");
	ok(next_is(&q, "retry", EVENTS_RETRY), "and then the next");
	events_release(&q);
}

static void test_full(void)
{
	struct event_queue q = {0};
	struct buf fits = BUF(16), full = BUF(16);

	buf_text(&fits, "{\"a\":1}");
	buf_text(&full, "{\"a\":");
	buf_text(&full, "\"a text that is too long\"}");
	events_push_json(&q, "noise", &fits);
	events_push_json(&q, "noise", &full);
	ok(next_is(&q, "noise", "{\"a\":1}"), "a detail that fits stays as it is");
	ok(next_is(&q, "noise", "{\"detail_too_large\":true}"),
	   "one that does not is still JSON");
	buf_release(&fits);
	buf_release(&full);
	events_release(&q);
}

int main(void)
{
	test_order();
	test_full();
	return done();
}
