/* Decoder of OpenEnv's WebSocket: a connection is a session, an episode begins with a reset. What
   replies mean is decided where `run` decides it, in env/openenv/. */
#include "tap/openenv_internal.h"

#include <stdlib.h>

static void *start(struct tap_recording *r)
{
	struct openenv_decoder *d = mem_new(sizeof(*d));

	d->r = r;
	d->name = d->version = BUF(BUF_MAX_SMALL);
	d->tools = BUF(BUF_MAX_MESSAGE);
	return d;
}

static void stop(void *ctx)
{
	struct openenv_decoder *d = ctx;

	BUFS_RELEASE(&d->name, &d->version, &d->tools);
	free(d);
}

/* ---- whose requests ---- */

static bool is_socket(const struct tap_head *request)
{
	return str_ends(tap_path(request), STR("/ws")) && tap_header(request, "upgrade").n;
}

/* The server's description, which clients may ask for. */
static bool is_page(const struct tap_head *request, const char *name)
{
	return str_is(request->method, "GET") && str_ends(tap_path(request), str_from(name));
}

static bool owns(void *ctx, const struct tap_head *request)
{
	(void)ctx;
	return is_socket(request) || is_page(request, "/schema") || is_page(request, "/metadata");
}

/* ---- what the server is ---- */

void openenv_learn_text(struct str value, struct buf *out)
{
	if (json_type(value) == JSON_STRING) {
		buf_clear(out);
		json_decode(value, out);
	}
}

void openenv_learn_tools(struct openenv_decoder *d, struct str tools)
{
	if (json_count(tools) > 0) {
		buf_set(&d->tools, tools);
		d->calls_tools = true;
	}
}

static void learn_page(struct openenv_decoder *d, const struct tap_exchange *x)
{
	struct str body = x->reply_body.bytes, action;

	if (x->reply.status != 200 || x->reply_body.encoded || !json_is_valid(body))
		return;
	if (is_page(&x->request, "/metadata")) {
		openenv_learn_text(JSON_GET(body, "name"), &d->name);
		openenv_learn_text(JSON_GET(body, "version"), &d->version);
		return;
	}
	action = JSON_GET(body, "action");
	if (json_type(action) == JSON_OBJECT && !d->calls_tools) {
		buf_clear(&d->tools);
		openenv_put_step_tool(action, &d->tools);
	}
}

/* ---- the connection ---- */

static void request(void *ctx, struct tap_exchange *x)
{
	struct openenv_decoder *d = ctx;

	if (!is_socket(&x->request))
		return;
	struct openenv_tap *s = mem_new(sizeof(*s));
	struct tap_session_start f = {.connection = x->connection,
	                              .protocol = protocol_name(PROTOCOL_OPENENV),
	                              .session = tap_query(&x->request, "session_id")};
	s->d = d;
	s->env_steps = -1;
	s->start = s->seen = s->reset = BUF(BUF_MAX_MESSAGE);
	reading_init(&s->reading);
	s->tap = tap_session_begin(d->r, &f);
	x->own = s;
}

/* A page of the description, or the handshake was declined. */
static void reply(void *ctx, struct tap_exchange *x)
{
	struct openenv_tap *s = x->own;

	if (!s) {
		learn_page(ctx, x);
		return;
	}
	struct str body = x->reply_body.bytes;
	bool json = body.n && json_is_valid(body);
	struct openenv_answer a = {.got = OPENENV_STATUS,
	                           .end = WEBSOCKET_DECLINED,
	                           .code = x->reply.status,
	                           .data = json ? body : STR_NONE,
	                           .text = body.n ? body : STR("the handshake was declined")};

	openenv_refuse(s, &a);
}

/* How a call is classified that the end of the connection left without a reply. */
static void read_ending(struct openenv_tap *s, const struct tap_ending *e, struct env_reply *out)
{
	struct openenv_answer a = {.got = OPENENV_ENDED,
	                           .end = e->code ? WEBSOCKET_CLOSED : WEBSOCKET_LOST,
	                           .code = e->code,
	                           .text = e->why.n  ? e->why
	                                   : e->code ? STR("the server closed the connection")
	                                             : STR("the server dropped the connection")};

	openenv_read_other(&a, &s->reading, out);
}

static void free_session(struct openenv_tap *s)
{
	while (s->first)
		openenv_pop(s);
	reading_release(&s->reading);
	ignore_paths_release(&s->ignored);
	arena_release(&s->kept);
	BUFS_RELEASE(&s->start, &s->seen, &s->reset);
	free(s);
}

static void closed(void *ctx, struct tap_exchange *x, const struct tap_ending *e)
{
	struct openenv_tap *s = x->own;
	struct env_reply lost;

	(void)ctx;
	if (!s)
		return;
	openenv_finish_held(s, STR_NONE);
	read_ending(s, e, &lost);
	if (e->unreachable || (!s->closed && !tap_episode_is_open(s->tap) && s->begun &&
	                       s->first->known && s->first->what == OPENENV_RESET)) {
		openenv_tell_facts(s);
		tap_session_refused(s->tap, &lost);
	}
	tap_session_end(s->tap, e, e->first == TAP_SERVER ? &lost : NULL);
	free_session(s);
}

static void message(void *ctx, struct tap_exchange *x, enum tap_side from,
                    const struct tap_bytes *m)
{
	(void)ctx;
	if (x->own)
		openenv_take_message(x->own, from, m);
}

const struct tap_decoder tap_openenv = {
	.name = "openenv",
	.owns = owns,
	.start = start,
	.stop = stop,
	.request = request,
	.reply = reply,
	.message = message,
	.closed = closed,
};
