/* MCP over stdin and stdout of a child process (all revisions, "Transports", stdio): one message
   per line. Output on stderr is recorded and is not a failure. */
#include "env/mcp/mcp_session.h"

#include "base/log.h"
#include "base/mem.h"
#include "env/reading.h"
#include "net/child.h"
#include "recording/words.h"

#include <stdlib.h>

struct stdio_channel {
	struct mcp_channel base;
	struct child *child; /* NULL: not started */
};

static struct stdio_channel *stdio_of(struct mcp_channel *c)
{
	return (struct stdio_channel *)c;
}

static struct mcp_channel *stdio_create(struct mcp_session *s)
{
	struct stdio_channel *c = mem_new(sizeof(*c));

	c->base.session = s;
	if (s->conf.header_count)
		log_warn("\1header\2: not available over stdio");
	return &c->base;
}

static void stdio_destroy(struct mcp_channel *base)
{
	struct stdio_channel *c = stdio_of(base);

	child_free(c->child);
	free(c);
}

static const char *command_of(const struct mcp_session *s)
{
	return target_command(buf_cstr(&s->url));
}

/* Reopening a session needs a new process if the old one has exited. */
static int start(struct stdio_channel *c, struct error *err)
{
	struct child_conf conf = {.command = command_of(c->base.session),
	                          .variables = c->base.session->conf.child_variables,
	                          .max_line = MCP_REPLY_MAX};

	if (c->child && !*child_why(c->child))
		return 0;
	child_free(c->child);
	c->child = NULL;
	return child_start(c->base.session->conf.io, &conf, &c->child, err);
}

static int await_answer(struct stdio_channel *c, const struct mcp_outgoing *q, struct mcp_reply *r,
                        struct error *err)
{
	struct mcp_session *s = c->base.session;
	struct str line;

	for (uint64_t left; (left = mcp_time_left_ms(s)) > 0;) {
		int rc = child_receive(c->child, &line, left, err);

		if (rc < 0)
			return err->kind == FAIL_TIMEOUT ? mcp_timeout_error(s, q, err) : -1;
		if (rc == 0)
			return reading_child_end(c->child, command_of(s), err);
		if (!line.n)
			continue;
		buf_set(&s->kept.body, line);
		int got = mcp_process(s, buf_view(&s->kept.body), q->id, &r->message, err);
		if (got) {
			mcp_set_got(s, r);
			return got < 0 ? -1 : 0;
		}
	}
	return mcp_timeout_error(s, q, err);
}

static int put(struct stdio_channel *c, struct str message, struct error *err)
{
	if (!c->child || !child_send(c->child, message)) {
		return error_set(err, FAIL_TRANSPORT,
		                 c->child ? "the server does not read its input"
		                          : "the server was not started");
	}
	return 0;
}

static int stdio_exchange(struct mcp_channel *base, const struct mcp_outgoing *q,
                          struct mcp_reply *r, struct error *err)
{
	struct stdio_channel *c = stdio_of(base);
	struct mcp_session *s = base->session;

	mcp_begin_exchange(s, q, r);
	if (q->opens && start(c, err))
		return -1;
	int failed = put(c, q->text, err) || await_answer(c, q, r, err);
	if (c->child)
		reading_child_words(c->child, s->conf.events);
	if (failed && mcp_or_failure(s, r, err))
		return -1;
	if (failed && r->got == MCP_GOT_UNUSABLE)
		r->message.kind = JSONRPC_INVALID; /* caused by the child */
	return 0;
}

static int stdio_send(struct mcp_channel *base, const struct mcp_outgoing *q, struct error *err)
{
	if (put(stdio_of(base), q->text, err))
		mcp_note_refused(base->session, q->text, 0, err->text);
	return 0;
}

static int stdio_listen(struct mcp_channel *base, uint64_t *wake_ns, struct error *err)
{
	struct stdio_channel *c = stdio_of(base);
	struct jsonrpc_message unused;
	struct str line;
	int got = c->child ? child_next(c->child, &line, err) : 0;

	(void)wake_ns; /* its output wakes a waiting call */
	if (got > 0 && line.n && mcp_process(base->session, line, MCP_NO_ID, &unused, err) < 0)
		return -1;
	return got;
}

static void stdio_close(struct mcp_channel *base)
{
	struct stdio_channel *c = stdio_of(base);

	if (c->child)
		child_stop(c->child);
}

const struct mcp_channel_ops mcp_stdio = {
	.name = "stdio",
	.shared = true,
	.create = stdio_create,
	.exchange = stdio_exchange,
	.send = stdio_send,
	.listen = stdio_listen,
	.close = stdio_close,
	.destroy = stdio_destroy,
};
