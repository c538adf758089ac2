/* MCP over HTTP+SSE, as in revision 2024-11-05: the first event of a GET names the message
   endpoint; each message is a POST there, and the responses are events of the GET. The session
   lasts as long as that stream. */
#include "env/mcp/http.h"

#include "base/log.h"
#include "base/mem.h"

#include <stdlib.h>

#define CONNECT_MS 5000 /* until the first event */

struct sse_channel {
	struct mcp_channel base;
	struct mcp_http_headers headers;
	struct http_request get;
	struct http_exchange *stream; /* NULL: not open */
	struct sse sse;
	struct buf endpoint; /* the message endpoint; empty: unknown */
	bool found;          /* an endpoint was named, valid or not */
	/* of the current exchange */
	int64_t id; /* awaited; MCP_NO_ID: none */
	struct mcp_reply *reply;
	bool answered;
};

static struct sse_channel *sse_of(struct mcp_channel *c)
{
	return (struct sse_channel *)c;
}

static struct mcp_channel *sse_create(struct mcp_session *s)
{
	struct sse_channel *c = mem_new(sizeof(*c));

	c->base.session = s;
	c->endpoint = BUF(BUF_MAX_SMALL);
	sse_init(&c->sse, MCP_REPLY_MAX);
	return &c->base;
}

static void close_stream(struct sse_channel *c)
{
	http_end(c->stream);
	c->stream = NULL;
}

static void sse_destroy(struct mcp_channel *base)
{
	struct sse_channel *c = sse_of(base);

	close_stream(c);
	mcp_http_headers_release(&c->headers);
	sse_release(&c->sse);
	buf_release(&c->endpoint);
	free(c);
}

bool mcp_sse_found(const struct mcp_channel *c)
{
	return ((const struct sse_channel *)c)->found;
}

/* ---- the stream ---- */

/* Stores the session id in the URL, which helps to find the session in a log. */
static void store_session_id(struct sse_channel *c)
{
	static const char *const names[] = {"sessionId=", "session_id="};
	struct mcp_session *s = c->base.session;

	buf_clear(&s->id);
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		const char *at = strstr(buf_cstr(&c->endpoint), names[i]);

		if (at) {
			at += strlen(names[i]);
			buf_add(&s->id, at, strcspn(at, "&#"));
			return;
		}
	}
}

static int set_endpoint(struct sse_channel *c, struct str data, struct error *err)
{
	const char *url = buf_cstr(&c->base.session->url);

	c->found = true;
	buf_clear(&c->endpoint);
	if (!http_resolve(url, data, &c->endpoint)) {
		close_stream(c);
		return error_set(err, FAIL_PROTOCOL,
		                 "%s names the message endpoint '%.*s', which is on another "
		                 "host or port",
		                 url, (int)(data.n < 200 ? data.n : 200), data.p);
	}
	store_session_id(c);
	return 0;
}

static int process_message(struct sse_channel *c, struct str data, struct error *err)
{
	struct mcp_session *s = c->base.session;
	struct jsonrpc_message m;
	struct buf text = BUF(BUF_MAX_MESSAGE);

	buf_str(&text, data);
	int got = mcp_process(s, buf_view(&text), c->id, &m, err);
	if (got > 0) {
		/* the message's slices must point into the reply's buffer */
		struct buf before = s->kept.body;

		s->kept.body = text;
		text = before;
		c->reply->message = m;
		c->answered = true;
		c->id = MCP_NO_ID;
	}
	buf_release(&text);
	return got < 0 ? -1 : 0;
}

/* Processes the next event already read. 1; 0 if there is none; -1. */
static int process_event(struct sse_channel *c, struct error *err)
{
	struct sse_event event;
	int failed = 0;
	bool more = sse_next(&c->sse, &event);

	if (!more && c->sse.too_large) {
		c->sse.too_large = false; /* reported once each */
		return error_set(err, FAIL_PROTOCOL, "an event is over %zu MiB",
		                 MCP_REPLY_MAX >> 20);
	}
	if (more && str_is(event.type, "endpoint"))
		failed = set_endpoint(c, event.data, err);
	else if (more && str_is(event.type, "message") && event.data.n)
		failed = process_message(c, event.data, err);
	return failed ? -1 : more;
}

static int process_events(struct sse_channel *c, struct error *err)
{
	int took;

	do {
		took = process_event(c, err);
	} while (took > 0);
	return took;
}

/* Reads what is available, without waiting for more. */
static int read_piece(struct sse_channel *c, struct error *err)
{
	struct str piece;
	int more = http_read(c->stream, &piece, err);

	if (more > 0) {
		sse_feed(&c->sse, piece);
		return 0;
	}
	if (more == 0)
		error_set(err, FAIL_TRANSPORT, "the event stream ended without the response");
	close_stream(c);
	return -1;
}

static int read_stream(struct sse_channel *c, struct error *err)
{
	return read_piece(c, err) ? -1 : process_events(c, err);
}

/* Waits until x or the stream is ready (x NULL: only the stream); FAIL_TIMEOUT after ms. */
static int await(struct sse_channel *c, struct http_exchange *x, uint64_t ms, struct error *err)
{
	struct http_exchange *xs[] = {c->stream, x};

	if (!ms)
		return error_set(err, FAIL_TIMEOUT, "timed out");
	return http_wait_any(c->base.session->conf.io, xs, x ? 2 : 1, ms, err);
}

static int connect_stream(struct sse_channel *c, struct error *err)
{
	static const char *const own[] = {"Accept: text/event-stream", NULL};
	struct mcp_session *s = c->base.session;
	uint64_t left = mcp_time_left_ms(s);
	uint64_t until = io_now_ns(s->conf.io) / 1000000 + (left < CONNECT_MS ? left : CONNECT_MS);

	close_stream(c);
	buf_clear(&c->endpoint);
	sse_release(&c->sse);
	sse_init(&c->sse, MCP_REPLY_MAX);
	mcp_http_headers_begin(&c->headers, s, own);
	c->get = (struct http_request){.method = "GET",
	                               .url = buf_cstr(&s->url),
	                               .headers = c->headers.line,
	                               .header_count = c->headers.count,
	                               .max_bytes = SIZE_MAX};
	if (http_begin(s->conf.io, &c->get, &c->stream, err))
		return -1;
	for (bool checked = false; !c->endpoint.n;) {
		uint64_t now = io_now_ns(s->conf.io) / 1000000;

		if (await(c, NULL, now < until ? until - now : 0, err))
			return -1;
		if (!http_ready(c->stream))
			continue;
		if (!checked && http_wait_headers(c->stream, err))
			return -1;
		if (!checked && (http_status(c->stream) != 200 ||
		                 !http_media_is(c->stream, "text/event-stream"))) {
			return error_set(err, FAIL_PROTOCOL, "%s is not an event stream: HTTP %d",
			                 c->get.url, http_status(c->stream));
		}
		if (checked && read_stream(c, err))
			return -1;
		checked = true;
	}
	return 0;
}

/* ---- messages ---- */

static struct http_request post(struct sse_channel *c, const struct mcp_outgoing *q)
{
	static const char *const own[] = {"Content-Type: application/json", NULL};

	mcp_http_headers_begin(&c->headers, c->base.session, own);
	return (struct http_request){.method = "POST",
	                             .url = buf_cstr(&c->endpoint),
	                             .headers = c->headers.line,
	                             .header_count = c->headers.count,
	                             .body = q->text,
	                             .timeout_ms = q->timeout_ms,
	                             .max_bytes = MCP_REPLY_MAX,
	                             .may_repeat = q->may_repeat};
}

/* The POST was refused: its response is the reply. */
static int read_refusal(struct sse_channel *c, struct http_exchange *x, struct error *err)
{
	struct mcp_session *s = c->base.session;
	struct mcp_reply *r = c->reply;

	r->got = MCP_GOT_HTTP;
	r->http_status = http_status(x);
	r->session_lost = r->http_status == 404;
	if (r->session_lost)
		close_stream(c); /* the stream cannot be resumed in the new session */
	buf_set(&s->kept.media, http_media_type(x));
	r->media = buf_view(&s->kept.media);
	buf_clear(&s->kept.body);
	if (http_read_all(x, &s->kept.body, err))
		return -1;
	r->text = buf_view(&s->kept.body);
	jsonrpc_read(r->text, &r->message);
	if (r->message.kind == JSONRPC_ERROR)
		mcp_set_got(s, r);
	return 0;
}

/* Waits until the POST is accepted and the response has arrived, in any order. 1: it was
   refused. */
static int converse(struct sse_channel *c, struct http_exchange *x, struct error *err)
{
	for (bool taken = false; !taken || !c->answered;) {
		if (await(c, taken ? NULL : x, mcp_time_left_ms(c->base.session), err))
			return -1;
		if (http_ready(c->stream) && read_stream(c, err))
			return -1;
		if (taken || !http_ready(x))
			continue;
		if (http_wait_headers(x, err))
			return -1;
		if (http_status(x) < 200 || http_status(x) > 299)
			return read_refusal(c, x, err) ? -1 : 1;
		taken = true;
	}
	return 0;
}

/* Processes messages read before the request was sent. */
static int process_older(struct sse_channel *c, struct error *err)
{
	int took;

	while (c->stream && (took = process_event(c, err)) != 0)
		if (took < 0 && mcp_note_trouble(c->base.session, err))
			return -1;
	return 0;
}

static int sse_exchange(struct mcp_channel *base, const struct mcp_outgoing *q, struct mcp_reply *r,
                        struct error *err)
{
	struct sse_channel *c = sse_of(base);
	struct mcp_session *s = base->session;
	struct http_exchange *x = NULL;

	mcp_begin_exchange(s, q, r);
	if (process_older(c, err))
		return -1;
	c->id = q->id;
	c->reply = r;
	c->answered = false;
	if (q->opens && !(c->stream && c->endpoint.n) && connect_stream(c, err)) {
		close_stream(c);
		return mcp_or_failure(s, r, err);
	}
	if (!c->stream) {
		r->session_lost = true;
		mcp_set_failure(s, r, MCP_GOT_TRANSPORT, "the event stream ended");
		return 0;
	}
	struct http_request request = post(c, q);
	if (http_begin(s->conf.io, &request, &x, err))
		return -1;
	int got = converse(c, x, err);
	http_drain(x);
	c->id = MCP_NO_ID;
	r->session_lost |= !c->stream;
	if (got < 0 && err->kind == FAIL_TIMEOUT && c->stream)
		mcp_timeout_error(s, q, err);
	if (got < 0)
		return mcp_or_failure(s, r, err);
	if (got == 0) {
		r->http_status = 200;
		mcp_set_got(s, r);
	}
	return 0;
}

static int sse_send(struct mcp_channel *base, const struct mcp_outgoing *q, struct error *err)
{
	struct sse_channel *c = sse_of(base);
	struct http_request request = post(c, q);
	struct http_exchange *x = NULL;

	if (!c->endpoint.n) {
		mcp_note_refused(base->session, q->text, 0,
		                 "the server did not name its message endpoint");
		return 0;
	}
	int failed = mcp_post_message(base->session, &request, &x, err);

	http_drain(x);
	return failed;
}

static int sse_listen(struct mcp_channel *base, uint64_t *wake_ns, struct error *err)
{
	struct sse_channel *c = sse_of(base);
	int took = c->stream ? process_event(c, err) : 0;

	(void)wake_ns;
	if (took || !c->stream || !http_ready(c->stream))
		return took;
	int failed = read_piece(c, err);
	if (failed && (err->kind == FAIL_INTERRUPTED || err->kind == FAIL_SYSTEM))
		return -1;
	if (failed) /* the next request will find it closed */
		log_info("the event stream ended between requests");
	return 1;
}

static void sse_close(struct mcp_channel *base)
{
	close_stream(sse_of(base));
}

const struct mcp_channel_ops mcp_sse = {
	.name = "HTTP+SSE",
	.shared = true,
	.create = sse_create,
	.exchange = sse_exchange,
	.send = sse_send,
	.listen = sse_listen,
	.close = sse_close,
	.destroy = sse_destroy,
};
