/* Header lines, and the background stream of Streamable HTTP: see mcp_http.h. */
#include "env/mcp_http.h"

#include "base/log.h"
#include "base/mem.h"

#include <stdlib.h>

#define NS_PER_MS 1000000u
#define VAIN_MAX  3
#define RETRY_MS  1000 /* where the server names no time */

/* ---- headers ---- */

void mcp_headers_release(struct mcp_headers *h)
{
	buf_release(&h->session);
	buf_release(&h->version);
	buf_release(&h->last);
	free(h->line);
	*h = (struct mcp_headers){.line = NULL};
}

void mcp_headers_add(struct mcp_headers *h, const char *line)
{
	if (h->count == h->room) {
		h->room = 2 * h->room + 8;
		h->line = mem_resize(h->line, h->room, sizeof(*h->line));
	}
	h->line[h->count++] = line;
}

static void add_value(struct mcp_headers *h, struct buf *line, const char *name,
                      struct str value)
{
	buf_release(line);
	*line = BUF(BUF_MAX_SMALL);
	buf_printf(line, "%s: %.*s", name, STR_ARG(value));
	mcp_headers_add(h, buf_cstr(line));
}

void mcp_headers_begin(struct mcp_headers *h, const struct mcp_session *s,
                       const char *const *own)
{
	h->count = 0;
	while (*own) {
		mcp_headers_add(h, *own++);
	}
	for (size_t i = 0; i < s->conf.header_count; i++) {
		mcp_headers_add(h, s->conf.headers[i]);
	}
	if (s->id.n && !s->ops->shared) {
		add_value(h, &h->session, "mcp-session-id", buf_view(&s->id));
	}
	if (s->agreed && strcmp(s->revision, "2025-06-18") >= 0) {
		add_value(h, &h->version, "MCP-Protocol-Version", str_from(s->revision));
	}
}

void mcp_headers_add_last(struct mcp_headers *h, struct str event_id)
{
	if (event_id.n) {
		add_value(h, &h->last, "Last-Event-ID", event_id);
	}
}

int mcp_post_aside(struct mcp_session *s, const struct http_request *q,
                   struct http_exchange **x, struct error *err)
{
	if (http_begin(s->conf.io, q, x, err)) {
		return -1;
	}
	/* there is nothing to read in the answer to such a message, but some servers send
	   an endless stream */
	int failed = http_wait_headers(*x, err);
	int status = http_status(*x);
	if (failed && (err->kind == FAIL_INTERRUPTED || err->kind == FAIL_SYSTEM)) {
		return -1;
	}
	if (failed || status < 200 || status > 299) {
		mcp_note_unwanted(s, q->body, status, failed ? err->text : NULL);
	}
	return 0;
}

/* ---- the stream ---- */

void mcp_listen_init(struct mcp_listen *l, struct mcp_session *s)
{
	*l = (struct mcp_listen){.session = s,
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
	mcp_headers_release(&l->headers);
	sse_release(&l->sse);
	buf_release(&l->message);
	buf_release(&l->last_id);
}

void mcp_listen_stop(struct mcp_listen *l)
{
	http_end(l->exchange);
	l->exchange = NULL;
	forget_events(l); /* they stood in what the exchange had read */
	l->due_ns = UINT64_MAX;
	l->vain = 0;
	buf_clear(&l->last_id);
}

static int begin(struct mcp_listen *l, struct error *err)
{
	static const char *const own[] = {"Accept: text/event-stream", NULL};
	struct mcp_session *s = l->session;

	mcp_headers_begin(&l->headers, s, own);
	mcp_headers_add_last(&l->headers, buf_view(&l->last_id));
	forget_events(l);
	l->request = (struct http_request){.method = "GET",
	                                   .url = buf_cstr(&s->url),
	                                   .headers = l->headers.line,
	                                   .header_count = l->headers.count,
	                                   .max_bytes = SIZE_MAX};
	l->due_ns = UINT64_MAX;
	return http_begin(s->conf.io, &l->request, &l->exchange, err);
}

int mcp_listen_start(struct mcp_listen *l, struct error *err)
{
	mcp_listen_stop(l);
	return begin(l, err);
}

/* It has ended. */
static void end(struct mcp_listen *l, bool again)
{
	struct mcp_session *s = l->session;
	uint64_t retry_ms = l->sse.retry_ms ? l->sse.retry_ms : RETRY_MS;

	http_end(l->exchange);
	l->exchange = NULL;
	if (again && ++l->vain < VAIN_MAX && retry_ms < UINT64_MAX / NS_PER_MS / 2) {
		l->due_ns = io_now_ns(s->conf.io) + retry_ms * NS_PER_MS;
	}
}

/* The next one of those that have been read. 1, 0: there is none, -1. */
static int take_event(struct mcp_listen *l, struct error *err)
{
	struct jsonrpc_message unused;
	struct sse_event event;
	bool more = sse_next(&l->sse, &event);

	if (l->sse.too_large && !l->too_large) {
		l->too_large = true;
		events_push(l->session->conf.events, "truncated-bytes",
		            STR("{\"what\":\"an event of the background stream\"}"));
	}
	if (!more) {
		return 0;
	}
	l->vain = 0;
	if (event.id.n) {
		buf_clear(&l->last_id);
		buf_str(&l->last_id, event.id);
	}
	if (!str_is(event.type, "message") || !event.data.n) {
		return 1;
	}
	/* what a message leads to may take its time */
	buf_clear(&l->message);
	buf_str(&l->message, event.data);
	struct str message = buf_view(&l->message);
	return mcp_take(l->session, message, MCP_NO_ID, &unused, err) < 0 ? -1 : 1;
}

/* What there is to read, without waiting: 1, 0: nothing was there. */
static int take_piece(struct mcp_listen *l, struct error *err)
{
	struct error why = {0};
	struct str piece;

	if (http_wait_headers(l->exchange, &why) == 0) {
		if (http_status(l->exchange) != 200 ||
		    !http_media_is(l->exchange, "text/event-stream")) {
			log_info("no background stream: GET was answered with HTTP %d",
			         http_status(l->exchange));
			end(l, false);
			return 1;
		}
		if (!http_ready(l->exchange)) {
			return 0;
		}
		if (http_read(l->exchange, &piece, &why) > 0) {
			sse_feed(&l->sse, piece);
			return 1;
		}
	}
	if (why.kind == FAIL_INTERRUPTED || why.kind == FAIL_SYSTEM) {
		*err = why;
		return -1;
	}
	log_info("the background stream has ended%s%s", why.kind ? ": " : "",
	         why.kind ? why.text : "");
	end(l, true);
	return 1;
}

int mcp_listen_serve(struct mcp_listen *l, uint64_t *wake_ns, struct error *err)
{
	if (l->due_ns != UINT64_MAX && io_now_ns(l->session->conf.io) >= l->due_ns) {
		return begin(l, err) ? -1 : 1;
	}
	int took = take_event(l, err);
	if (!took && l->exchange && http_ready(l->exchange)) {
		took = take_piece(l, err);
	}
	*wake_ns = l->due_ns < *wake_ns ? l->due_ns : *wake_ns;
	return took;
}

/* One piece with all its events, so that nobody waits for ever where they do not end. */
static int serve(struct mcp_listen *l, uint64_t *wake_ns, struct error *err)
{
	int took = mcp_listen_serve(l, wake_ns, err);

	while (took > 0) {
		took = take_event(l, err);
	}
	return took;
}

int mcp_listen_until(struct mcp_listen *l, struct http_exchange *x, uint64_t timeout_ms,
                     struct error *err)
{
	struct io *io = l->session->conf.io;
	uint64_t now = io_now_ns(io), until = UINT64_MAX;

	if (timeout_ms < (UINT64_MAX - now) / NS_PER_MS) {
		until = now + timeout_ms * NS_PER_MS;
	}
	for (;;) {
		struct http_exchange *xs[2];
		uint64_t wake = until;
		size_t count = 0;

		if (serve(l, &wake, err)) {
			return -1;
		}
		now = io_now_ns(io);
		if ((x && http_ready(x)) || now >= until) {
			return 0;
		}
		if (x) {
			xs[count++] = x;
		}
		if (l->exchange) {
			xs[count++] = l->exchange;
		}
		uint64_t left = wake == UINT64_MAX ? UINT64_MAX
		                : wake > now       ? (wake - now) / NS_PER_MS + 1
		                                   : 0;
		if (http_wait_any(io, xs, count, left, err)) {
			return -1;
		}
	}
}
