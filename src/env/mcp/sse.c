/* MCP over HTTP+SSE, as in revision 2024-11-05: the first event of a GET names the message
   endpoint; each message is a POST there, and the responses are events of the GET. The session
   lasts as long as that stream. */
#include "env/mcp/streamable_http.h"

#include "base/log.h"
#include "base/mem.h"

#include <stdlib.h>

#define CONNECT_MS 5000 /* until the first event */

struct sse_channel {
	struct mcp_channel base;
	struct mcp_http_headers headers;
	struct mcp_listen stream;
	struct buf endpoint; /* the message endpoint; empty: unknown */
	bool found;          /* an endpoint was named, valid or not */
};

static struct sse_channel *sse_of(struct mcp_channel *c)
{
	return (struct sse_channel *)c;
}

static void sse_destroy(struct mcp_channel *base)
{
	struct sse_channel *c = sse_of(base);

	mcp_listen_release(&c->stream);
	mcp_http_headers_release(&c->headers);
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

static int set_endpoint(void *channel, struct str data, struct error *err)
{
	struct sse_channel *c = channel;
	const char *url = buf_cstr(&c->base.session->url);

	c->found = true;
	buf_clear(&c->endpoint);
	if (!http_resolve(url, data, &c->endpoint)) {
		error_set(err, FAIL_PROTOCOL,
		          "%s names the message endpoint '%.*s', which is on another host or port",
		          url, (int)(data.n < 200 ? data.n : 200), data.p);
		mcp_listen_stop(&c->stream);
		return -1;
	}
	store_session_id(c);
	return 0;
}

static struct mcp_channel *sse_create(struct mcp_session *s)
{
	struct sse_channel *c = mem_new(sizeof(*c));

	c->base.session = s;
	c->endpoint = BUF(BUF_MAX_SMALL);
	mcp_listen_init(&c->stream, s, MCP_IS_SESSION);
	c->stream.take_endpoint = set_endpoint;
	c->stream.channel = c;
	return &c->base;
}

/* Waits until x or the stream is ready (x NULL: only the stream), and processes what has arrived;
   FAIL_TIMEOUT after ms. -1 also if the stream has ended. */
static int await(struct sse_channel *c, struct http_exchange *x, uint64_t ms, struct error *err)
{
	struct http_exchange *xs[] = {c->stream.exchange, x};
	uint64_t unused = UINT64_MAX;

	if (!ms)
		return error_set(err, FAIL_TIMEOUT, "timed out");
	if (http_wait_any(c->base.session->conf.io, xs, x ? 2 : 1, ms, err) ||
	    mcp_listen_piece(&c->stream, &unused, err)) {
		return -1;
	}
	if (!c->stream.exchange)
		*err = c->stream.why;
	return c->stream.exchange ? 0 : -1;
}

static int connect_stream(struct sse_channel *c, struct error *err)
{
	struct mcp_session *s = c->base.session;
	uint64_t until = io_deadline_ns(s->conf.io, CONNECT_MS);

	until = until < s->deadline_ns ? until : s->deadline_ns;
	buf_clear(&c->endpoint);
	if (mcp_listen_start(&c->stream, err))
		return -1;
	while (!c->endpoint.n)
		if (await(c, NULL, io_left_ms(s->conf.io, until), err))
			return -1;
	return 0;
}

/* ---- messages ---- */

static struct http_request post(struct sse_channel *c, const struct mcp_outgoing *q)
{
	return mcp_http_post(&c->headers, c->base.session, buf_cstr(&c->endpoint), NULL, q);
}

/* The POST was refused: its response is the reply. */
static int read_refusal(struct sse_channel *c, struct http_exchange *x, struct error *err)
{
	struct mcp_session *s = c->base.session;
	struct mcp_reply *r = c->stream.reply;

	r->got = MCP_GOT_HTTP;
	r->http_status = http_status(x);
	r->session_lost = r->http_status == 404;
	if (r->session_lost)
		mcp_listen_stop(&c->stream); /* it cannot be resumed in the new session */
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
	for (bool taken = false; !taken || !c->stream.answered;) {
		if (await(c, taken ? NULL : x, mcp_time_left_ms(c->base.session), err))
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

/* Processes messages that arrived before the request is sent. */
static int process_older(struct sse_channel *c, struct error *err)
{
	uint64_t unused = UINT64_MAX;

	while (mcp_listen_piece(&c->stream, &unused, err))
		if (mcp_note_trouble(c->base.session, err))
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
	mcp_listen_await(&c->stream, q->id, r);
	if (q->opens && !(c->stream.exchange && c->endpoint.n) && connect_stream(c, err)) {
		mcp_listen_stop(&c->stream);
		return mcp_or_failure(s, r, err);
	}
	if (!c->stream.exchange) {
		r->session_lost = true;
		mcp_set_failure(s, r, MCP_GOT_TRANSPORT, "the event stream ended");
		return 0;
	}
	struct http_request request = post(c, q);
	if (http_begin(s->conf.io, &request, &x, err))
		return -1;
	int got = converse(c, x, err);
	http_drain(x);
	c->stream.id = MCP_NO_ID;
	r->session_lost |= !c->stream.exchange;
	if (got < 0 && err->kind == FAIL_TIMEOUT && c->stream.exchange)
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
	return mcp_listen_serve(&sse_of(base)->stream, wake_ns, err);
}

static void sse_close(struct mcp_channel *base)
{
	mcp_listen_stop(&sse_of(base)->stream);
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
