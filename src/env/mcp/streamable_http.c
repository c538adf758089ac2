/* MCP over Streamable HTTP (specification revisions 2025-03-26 to 2025-11-25, "Transports"): a
   POST for each message, answered with a JSON body or an event stream. */
#include "env/mcp/streamable_http.h"

#include "base/log.h"
#include "base/mem.h"
#include "env/mcp/mcp_session.h"

#include <stdlib.h>

#define CLOSE_TIMEOUT_MS 2000
#define RETRY_MS         1000 /* if the server names no time */
#define RESUME_MAX       5    /* consecutive streams without anything new */

struct http_channel {
	struct mcp_channel base;
	struct mcp_http_headers headers;
	struct mcp_listen listen;
	struct buf other_id; /* the last foreign session id named by a reply */
	/* the stream of one answer, across all its connections */
	struct mcp_listen answer;
	uint64_t retry_ms;
};

/* ---- requests ---- */

#define HEADERS_MAX ((size_t)2 << 20)

void mcp_http_headers_release(struct mcp_http_headers *h)
{
	buf_release(&h->text);
	free(h->line);
	*h = (struct mcp_http_headers){.line = NULL};
}

static void add_line(struct mcp_http_headers *h, const char *line)
{
	buf_add(&h->text, line, line ? strlen(line) + 1 : 0);
}

static void add_field(struct mcp_http_headers *h, const char *name, struct str value)
{
	if (value.n) {
		buf_printf(&h->text, "%s: %.*s", name, STR_ARG(value));
		buf_char(&h->text, '\0');
	}
}

static void begin_headers(struct mcp_http_headers *h, const struct mcp_session *s, const char *type,
                          const char *accept)
{
	bool versioned = s->agreed && mcp_revision_has_header(s->revision);

	buf_clear(&h->text);
	h->text.max = HEADERS_MAX;
	add_line(h, type);
	add_line(h, accept);
	for (size_t i = 0; i < s->conf.header_count; i++)
		add_line(h, s->conf.headers[i]);
	add_field(h, "mcp-session-id", s->ops->shared ? STR_NONE : buf_view(&s->id));
	add_field(h, "MCP-Protocol-Version", versioned ? str_from(s->revision) : STR_NONE);
}

static void end_headers(struct mcp_http_headers *h, struct http_request *q)
{
	for (struct str rest = buf_view(&h->text); rest.n; q->header_count++) {
		h->line = mem_grow(h->line, q->header_count, sizeof(*h->line));
		h->line[q->header_count] = str_cut(&rest, '\0').p;
	}
	q->headers = h->line;
}

struct http_request mcp_http_post(struct mcp_http_headers *h, const struct mcp_session *s,
                                  const char *url, const char *accept, const struct mcp_outgoing *q)
{
	struct http_request request = {.method = "POST",
	                               .url = url,
	                               .body = q->text,
	                               .timeout_ms = q->timeout_ms,
	                               .max_bytes = MCP_REPLY_MAX,
	                               .may_repeat = q->may_repeat};

	begin_headers(h, s, "Content-Type: application/json", accept);
	buf_str(&h->text, q->headers);
	end_headers(h, &request);
	return request;
}

struct http_request mcp_http_get(struct mcp_http_headers *h, const struct mcp_session *s,
                                 struct str last_id)
{
	struct http_request request = {.method = "GET", .url = buf_cstr(&s->url)};

	begin_headers(h, s, NULL, "Accept: text/event-stream");
	add_field(h, "Last-Event-ID", last_id);
	end_headers(h, &request);
	return request;
}

/* ---- the channel ---- */

static struct http_channel *http_of(struct mcp_channel *c)
{
	return (struct http_channel *)c;
}

static struct mcp_channel *http_create(struct mcp_session *s)
{
	struct http_channel *c = mem_new(sizeof(*c));

	c->base.session = s;
	c->other_id = BUF(BUF_MAX_SMALL);
	mcp_listen_init(&c->listen, s, MCP_BACKGROUND);
	mcp_listen_init(&c->answer, s, MCP_IS_ANSWER);
	return &c->base;
}

static void http_destroy(struct mcp_channel *base)
{
	struct http_channel *c = http_of(base);

	mcp_listen_release(&c->listen);
	mcp_listen_release(&c->answer);
	mcp_http_headers_release(&c->headers);
	buf_release(&c->other_id);
	free(c);
}

/* ---- sending ---- */

static struct http_request post(struct http_channel *c, const struct mcp_outgoing *q)
{
	struct http_request request =
		mcp_http_post(&c->headers, c->base.session, buf_cstr(&c->base.session->url),
	                      "Accept: application/json, text/event-stream", q);

	request.follow = q->opens;
	return request;
}

/* A reply that names another session comes from another session: noted once per id, without the
   id. Our id stays in use. */
static void note_session(struct http_channel *c, const struct http_exchange *x)
{
	struct mcp_session *s = c->base.session;
	struct str id = http_header(x, "mcp-session-id");
	int status = http_status(x);

	if (status < 200 || status > 299 || !s->id.n || !id.n || str_eq(id, buf_view(&s->id)) ||
	    str_eq(id, buf_view(&c->other_id))) {
		return;
	}
	buf_set(&c->other_id, id);
	events_push(s->conf.events, EVENT_SESSION_ID_CHANGED,
	            STR("{\"what\":\"a reply named another session\"}"));
}

static int http_send(struct mcp_channel *base, const struct mcp_outgoing *q, struct error *err)
{
	struct http_channel *c = http_of(base);
	struct http_request request = post(c, q);
	struct http_exchange *x = NULL;
	int failed = mcp_post_message(base->session, &request, &x, err);

	if (x)
		note_session(c, x);
	http_drain(x);
	if (failed)
		return -1;
	/* from now on the server may send unsolicited messages */
	if (q->method && strcmp(q->method, "notifications/initialized") == 0)
		return mcp_listen_start(&c->listen, err);
	return 0;
}

/* ---- receiving ---- */

/* 1: the answer was received; the rest of the stream is not awaited. 0: the stream ended without
   it. */
static int read_events(struct http_channel *c, struct http_exchange *x, struct error *err)
{
	struct sse *sse = &c->answer.sse;
	struct str piece;
	int more = 1;

	sse_restart(sse);
	while (more > 0 && !c->answer.answered) {
		if (mcp_listen_until(&c->listen, x, UINT64_MAX, err))
			return -1;
		more = http_read(x, &piece, err);
		if (more > 0) {
			sse_feed(sse, piece);
			more = mcp_listen_process(&c->answer, err) ? -1 : 1;
		}
	}
	c->retry_ms = sse->retry_ms ? sse->retry_ms : c->retry_ms;
	return more < 0 ? -1 : c->answer.answered;
}

static void note_reconnected(struct http_channel *c, const char *why)
{
	events_pack(c->base.session->conf.events, EVENT_RECONNECTED, "{why:%t,after_event:%s}", why,
	            buf_view(&c->answer.last_id));
}

/* Reconnects once to the stream of an answer, after the time the server asks for. 1, 0: as
   read_events. 2: the server does not resume it. */
static int read_rest(struct http_channel *c, struct error *err)
{
	struct mcp_session *s = c->base.session;
	uint64_t left = mcp_time_left_ms(s);
	struct http_exchange *x = NULL;

	if (c->retry_ms >= left)
		return 2;
	if (mcp_listen_until(&c->listen, NULL, c->retry_ms, err))
		return -1;
	left = mcp_time_left_ms(s);
	struct http_request q = mcp_http_get(&c->headers, s, buf_view(&c->answer.last_id));
	q.timeout_ms = left == UINT64_MAX ? 0 : left + !left;
	q.max_bytes = MCP_REPLY_MAX;
	q.may_repeat = true;
	if (http_begin(s->conf.io, &q, &x, err))
		return -1;
	int got = mcp_listen_until(&c->listen, x, UINT64_MAX, err) || http_wait_headers(x, err) ? -1
	                                                                                        : 2;
	if (got == 2 && http_status(x) == 200 && http_media_is(x, "text/event-stream"))
		got = read_events(c, x, err);
	http_drain(x);
	return got;
}

/* Did the stream end without the response, or was it cut off? Not resumable while opening, or in
   revisions without sessions. */
static bool may_resume(const struct http_channel *c, int got, const struct error *err)
{
	const struct mcp_session *s = c->base.session;

	return c->answer.last_id.n && s->agreed && !s->modern &&
	       (got == 0 || (got < 0 && err->kind == FAIL_TRANSPORT));
}

/* The answer is in an event stream, which may end early: the rest is then requested with the
   id of the last event (revision 2025-11-25, "Resumability"). The request itself is not sent
   again. */
static int read_stream(struct http_channel *c, struct http_exchange *x, int64_t id,
                       struct mcp_reply *r, struct error *err)
{
	struct mcp_session *s = c->base.session;
	AUTO_BUF seen = BUF(BUF_MAX_SMALL);
	int fruitless = 0;

	c->retry_ms = RETRY_MS;
	mcp_listen_await(&c->answer, id, r);
	int got = read_events(c, x, err);
	while (may_resume(c, got, err) && fruitless < RESUME_MAX) {
		note_reconnected(c, got ? err->text : "the stream ended before the response");
		buf_set(&seen, buf_view(&c->answer.last_id));
		got = read_rest(c, err);
		fruitless =
			str_eq(buf_view(&seen), buf_view(&c->answer.last_id)) ? fruitless + 1 : 0;
	}
	if (got == 1) {
		mcp_set_got(s, r);
	} else if (got >= 0 && r->http_status < 300) {
		mcp_set_failure(s, r, MCP_GOT_TRANSPORT,
		                "the event stream ended without the response");
	}
	return got < 0 ? -1 : 0;
}

static int read_body(struct http_channel *c, struct http_exchange *x, int64_t id,
                     struct mcp_reply *r, struct error *err)
{
	struct mcp_session *s = c->base.session;

	buf_clear(&s->kept.body);
	if (http_read_all(x, &s->kept.body, err))
		return -1;
	r->text = buf_view(&s->kept.body);
	jsonrpc_read(r->text, &r->message);
	if (r->message.kind == JSONRPC_BATCH) {
		int got = mcp_process(s, r->text, id, &r->message, err);

		if (got > 0)
			mcp_set_got(s, r);
		return got < 0 ? -1 : 0;
	}
	if (mcp_is_answer(&r->message, id))
		mcp_set_got(s, r);
	return 0;
}

static int read_reply(struct http_channel *c, struct http_exchange *x, int64_t id,
                      struct mcp_reply *r, struct error *err)
{
	struct mcp_session *s = c->base.session;

	if (mcp_listen_until(&c->listen, x, UINT64_MAX, err) || http_wait_headers(x, err))
		return -1;
	struct str media = http_media_type(x);
	r->http_status = http_status(x);
	buf_set(&s->kept.media, media);
	r->media = buf_view(&s->kept.media);
	r->got = MCP_GOT_HTTP;
	r->session_lost = r->http_status == 404 && s->id.n > 0;
	buf_set(&s->kept.location, http_header(x, "Location"));
	r->location = buf_view(&s->kept.location);
	return http_media_is(x, "text/event-stream") ? read_stream(c, x, id, r, err)
	                                             : read_body(c, x, id, r, err);
}

/* Only the response to a successful initialize names a session: refusals carry invalid ids. */
static int store_session_id(struct http_channel *c, const struct http_exchange *x, bool opened,
                            struct error *err)
{
	struct mcp_session *s = c->base.session;
	struct str id = opened ? http_header(x, "mcp-session-id") : STR_NONE;

	buf_set(&s->url, str_from(http_url(x)));
	if (id.n > MCP_ID_MAX) {
		return error_set(err, FAIL_PROTOCOL,
		                 "the server's session id has %zu bytes, more than %zu KiB", id.n,
		                 MCP_ID_MAX >> 10);
	}
	if (opened) {
		buf_set(&s->id, id);
		buf_clear(&c->other_id);
	}
	return 0;
}

static int http_exchange_one(struct mcp_channel *base, const struct mcp_outgoing *q,
                             struct mcp_reply *r, struct error *err)
{
	struct http_channel *c = http_of(base);
	struct mcp_session *s = c->base.session;
	struct http_request request = post(c, q);
	struct http_exchange *x = NULL;

	mcp_begin_exchange(s, q, r);
	buf_clear(&c->answer.last_id);
	if (q->opens)
		mcp_listen_stop(&c->listen);
	if (http_begin(s->conf.io, &request, &x, err))
		return -1;
	int failed = read_reply(c, x, q->id, r, err);
	if (q->opens && !failed)
		failed = store_session_id(c, x, r->got == MCP_GOT_RESULT, err);
	note_session(c, x);
	unsigned repeats = http_repeats(x);
	if (failed)
		http_end(x); /* without sessions, this cancels the request */
	else
		http_drain(x);
	if (repeats)
		events_push(s->conf.events, EVENT_RETRY, STR(EVENTS_RETRY));
	if (failed && err->kind == FAIL_TIMEOUT && c->answer.last_id.n)
		mcp_timeout_error(s, q, err); /* over several connections */
	return failed ? mcp_or_failure(s, r, err) : 0;
}

static int http_listen(struct mcp_channel *base, uint64_t *wake_ns, struct error *err)
{
	return mcp_listen_serve(&http_of(base)->listen, wake_ns, err);
}

/* DELETE; the server's response is ignored (405 is common). */
static void http_close(struct mcp_channel *base)
{
	static const struct mcp_outgoing nothing = {.timeout_ms = CLOSE_TIMEOUT_MS,
	                                            .may_repeat = true};
	struct http_channel *c = http_of(base);
	struct mcp_session *s = c->base.session;
	struct error ignored = {0};
	struct http_exchange *x = NULL;

	mcp_listen_stop(&c->listen);
	if (!s->id.n)
		return;
	struct http_request q = post(c, &nothing);
	q.method = "DELETE";
	if (http_begin(s->conf.io, &q, &x, &ignored))
		return;
	if (http_wait_headers(x, &ignored))
		log_info("the session could not be deleted: %s", ignored.text);
	http_end(x);
	buf_clear(&s->id);
}

const struct mcp_channel_ops mcp_http = {
	.name = "Streamable HTTP",
	.create = http_create,
	.exchange = http_exchange_one,
	.send = http_send,
	.listen = http_listen,
	.close = http_close,
	.destroy = http_destroy,
};
