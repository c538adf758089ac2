/* Event streams of messages: see streamable_http.h. */
#include "env/mcp/streamable_http.h"

#include "base/log.h"

#include <stdio.h>

#define EMPTY_STREAMS_MAX 3
#define RETRY_MS          1000 /* if the server names no time */

int mcp_post_message(struct mcp_session *s, const struct http_request *q, struct http_exchange **x,
                     struct error *err)
{
	if (http_begin(s->conf.io, q, x, err))
		return -1;
	/* the body is not read: some servers answer such a message with an endless stream */
	int failed = http_wait_headers(*x, err);
	int status = http_status(*x);
	if (failed && (err->kind == FAIL_INTERRUPTED || err->kind == FAIL_SYSTEM))
		return -1;
	if (failed || status < 200 || status > 299)
		mcp_note_refused(s, q->body, status, failed ? err->text : NULL);
	return 0;
}

/* ---- the stream ---- */

void mcp_listen_init(struct mcp_listen *l, struct mcp_session *s, enum mcp_stream kind)
{
	*l = (struct mcp_listen){.session = s,
	                         .kind = kind,
	                         .id = MCP_NO_ID,
	                         .message = BUF(BUF_MAX_MESSAGE),
	                         .last_id = BUF(BUF_MAX_SMALL),
	                         .due_ns = UINT64_MAX};
	sse_init(&l->sse, MCP_REPLY_MAX);
}

static void forget_events(struct mcp_listen *l)
{
	sse_release(&l->sse);
	sse_init(&l->sse, MCP_REPLY_MAX);
}

void mcp_listen_release(struct mcp_listen *l)
{
	mcp_listen_stop(l);
	mcp_http_headers_release(&l->headers);
	sse_release(&l->sse);
	BUFS_RELEASE(&l->message, &l->last_id);
}

void mcp_listen_stop(struct mcp_listen *l)
{
	http_end(l->exchange);
	l->exchange = NULL;
	forget_events(l); /* their slices pointed into the exchange's buffer */
	l->due_ns = UINT64_MAX;
	l->empty_streams = 0;
	buf_clear(&l->last_id);
}

static int begin(struct mcp_listen *l, struct error *err)
{
	forget_events(l);
	l->request = mcp_http_get(&l->headers, l->session, buf_view(&l->last_id));
	l->request.max_bytes = SIZE_MAX;
	l->due_ns = UINT64_MAX;
	return http_begin(l->session->conf.io, &l->request, &l->exchange, err);
}

int mcp_listen_start(struct mcp_listen *l, struct error *err)
{
	mcp_listen_stop(l);
	return begin(l, err);
}

/* The stream has ended. */
static void end_listening(struct mcp_listen *l, bool again)
{
	struct mcp_session *s = l->session;

	http_end(l->exchange);
	l->exchange = NULL;
	if (again && ++l->empty_streams < EMPTY_STREAMS_MAX) {
		l->due_ns =
			io_deadline_ns(s->conf.io, l->sse.retry_ms ? l->sse.retry_ms : RETRY_MS);
	}
}

void mcp_listen_await(struct mcp_listen *l, int64_t id, struct mcp_reply *r)
{
	l->id = id;
	l->reply = r;
	l->answered = false;
}

/* An id over MCP_ID_MAX is dropped: the stream cannot be resumed after it. */
static void store_event_id(struct mcp_listen *l, struct str id)
{
	char why[96];

	if (id.n)
		buf_set(&l->last_id, id.n <= MCP_ID_MAX ? id : STR_NONE);
	if (id.n > MCP_ID_MAX) {
		snprintf(why, sizeof(why),
		         "the id of an event has %zu bytes: too long to resume with", id.n);
		events_pack(l->session->conf.events, EVENT_NOISE, "{why:%t}", why);
	}
}

static int process_message(struct mcp_listen *l, struct str data, struct error *err)
{
	struct jsonrpc_message m;

	buf_set(&l->message, data); /* processing it may take time */
	int got = mcp_process(l->session, buf_view(&l->message), l->id, &m, err);
	if (got > 0) {
		/* the message's slices must point into the reply's buffer */
		struct buf before = l->session->kept.body;

		l->session->kept.body = l->message;
		l->message = before;
		l->reply->message = m;
		l->answered = true;
		l->id = MCP_NO_ID;
	}
	return got < 0 ? -1 : 1;
}

/* An event that is too large. Of the background stream it is reported once. */
static int no_event(struct mcp_listen *l, struct error *err)
{
	if (!l->sse.too_large || (l->kind == MCP_BACKGROUND && l->too_large))
		return 0;
	if (l->kind == MCP_BACKGROUND) {
		l->too_large = true;
		events_push(l->session->conf.events, EVENT_TRUNCATED_BYTES,
		            STR("{\"what\":\"an event of the background stream\"}"));
		return 0;
	}
	l->sse.too_large = false; /* reported once each */
	return error_set(err, FAIL_PROTOCOL, "an event%s is over %zu MiB",
	                 l->kind == MCP_IS_ANSWER ? " of the response" : "", MCP_REPLY_MAX >> 20);
}

/* Processes the next event already read. 1; 0 if there is none; -1. */
static int process_event(struct mcp_listen *l, struct error *err)
{
	struct sse_event event;

	if (!sse_next(&l->sse, &event))
		return no_event(l, err);
	l->empty_streams = 0;
	if (l->kind == MCP_IS_SESSION && str_is(event.type, "endpoint"))
		return l->take_endpoint(l->channel, event.data, err) ? -1 : 1;
	if (l->kind != MCP_IS_SESSION)
		store_event_id(l, event.id);
	/* priming events and unknown types have no message */
	return str_is(event.type, "message") && event.data.n ? process_message(l, event.data, err)
	                                                     : 1;
}

int mcp_listen_process(struct mcp_listen *l, struct error *err)
{
	int got = 1;

	while (got > 0 && !l->answered)
		got = process_event(l, err);
	return got < 0 ? -1 : 0;
}

/* Reads what is available without waiting: 1, or 0 if there was nothing. */
static int read_piece(struct mcp_listen *l, struct error *err)
{
	struct error why = {0};
	struct str piece;

	if (http_wait_headers(l->exchange, &why) == 0) {
		if (http_status(l->exchange) != 200 ||
		    !http_media_is(l->exchange, "text/event-stream")) {
			error_set(&l->why, FAIL_PROTOCOL, "%s is not an event stream: HTTP %d",
			          l->request.url, http_status(l->exchange));
			log_info("no stream: %s", l->why.text);
			end_listening(l, false);
			return 1;
		}
		if (!http_ready(l->exchange))
			return 0;
		if (http_read(l->exchange, &piece, &why) > 0) {
			sse_feed(&l->sse, piece);
			return 1;
		}
	}
	if (why.kind == FAIL_INTERRUPTED || why.kind == FAIL_SYSTEM) {
		*err = why;
		return -1;
	}
	if (!why.kind)
		error_set(&why, FAIL_TRANSPORT, "the event stream ended without the response");
	log_info("a stream ended: %s", why.text);
	l->why = why;
	end_listening(l, l->kind == MCP_BACKGROUND);
	return 1;
}

int mcp_listen_serve(struct mcp_listen *l, uint64_t *wake_ns, struct error *err)
{
	if (!io_left_ms(l->session->conf.io, l->due_ns))
		return begin(l, err) ? -1 : 1;
	int took = process_event(l, err);
	if (!took && l->exchange && http_ready(l->exchange))
		took = read_piece(l, err);
	*wake_ns = l->due_ns < *wake_ns ? l->due_ns : *wake_ns;
	return took;
}

int mcp_listen_piece(struct mcp_listen *l, uint64_t *wake_ns, struct error *err)
{
	int took = mcp_listen_serve(l, wake_ns, err);

	while (took > 0)
		took = process_event(l, err);
	return took;
}

int mcp_listen_until(struct mcp_listen *l, struct http_exchange *x, uint64_t timeout_ms,
                     struct error *err)
{
	struct io *io = l->session->conf.io;
	uint64_t until = io_deadline_ns(io, timeout_ms);

	for (;;) {
		struct http_exchange *xs[2];
		uint64_t wake = until;
		size_t count = 0;

		if (mcp_listen_piece(l, &wake, err))
			return -1;
		if ((x && http_ready(x)) || !io_left_ms(io, until))
			return 0;
		if (x)
			xs[count++] = x;
		if (l->exchange)
			xs[count++] = l->exchange;
		if (http_wait_any(io, xs, count, io_left_ms(io, wake), err))
			return -1;
	}
}
