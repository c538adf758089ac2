/* MCP over Streamable HTTP (specification revisions 2025-03-26 to 2025-11-25,
   "Transports"): a POST for each message, its answer a JSON body or an event stream. */
#include "env/mcp_wire.h"

#include "base/log.h"
#include "base/mem.h"
#include "protocol/sse.h"

#include <stdlib.h>
#include <strings.h>

#define GOODBYE_MS 2000

struct http_channel {
	struct mcp_channel base;
	struct buf id_header, version_header;
	struct buf other_id; /* the newest session id a reply named that is not ours */
	const char **headers;
	size_t header_room, header_count;
	struct sse sse;
};

static struct http_channel *http_of(struct mcp_channel *c)
{
	return (struct http_channel *)c;
}

static struct mcp_channel *http_create(struct mcp_session *s)
{
	struct http_channel *c = mem_new(sizeof(*c));

	c->base.session = s;
	c->id_header = c->version_header = c->other_id = BUF(BUF_MAX_SMALL);
	sse_init(&c->sse, MCP_REPLY_MAX);
	return &c->base;
}

static void http_destroy(struct mcp_channel *base)
{
	struct http_channel *c = http_of(base);

	buf_release(&c->id_header);
	buf_release(&c->version_header);
	buf_release(&c->other_id);
	sse_release(&c->sse);
	free(c->headers);
	free(c);
}

/* ---- sending ---- */

static void add_header(struct http_channel *c, const char *line)
{
	if (c->header_count == c->header_room) {
		c->header_room = 2 * c->header_room + 8;
		c->headers = mem_resize(c->headers, c->header_room, sizeof(*c->headers));
	}
	c->headers[c->header_count++] = line;
}

/* From what is agreed on by now. */
static void build_headers(struct http_channel *c, const struct mcp_outgoing *q)
{
	const struct mcp_session *s = c->base.session;

	c->header_count = 0;
	add_header(c, "Content-Type: application/json");
	add_header(c, "Accept: application/json, text/event-stream");
	for (size_t i = 0; i < s->conf.header_count; i++) {
		add_header(c, s->conf.headers[i]);
	}
	for (size_t i = 0; i < q->header_count; i++) {
		add_header(c, q->headers[i]);
	}
	if (s->id.n) {
		buf_clear(&c->id_header);
		buf_printf(&c->id_header, "mcp-session-id: %s", buf_cstr(&s->id));
		add_header(c, buf_cstr(&c->id_header));
	}
	if (s->agreed && strcmp(s->revision, "2025-06-18") >= 0) {
		buf_clear(&c->version_header);
		buf_printf(&c->version_header, "MCP-Protocol-Version: %s", s->revision);
		add_header(c, buf_cstr(&c->version_header));
	}
}

static struct http_request post(struct http_channel *c, const struct mcp_outgoing *q)
{
	build_headers(c, q);
	return (struct http_request){
		.method = "POST",
		.url = buf_cstr(&c->base.session->url),
		.headers = c->headers,
		.header_count = c->header_count,
		.body = q->text,
		.timeout_ms = q->timeout_ms,
		.max_bytes = MCP_REPLY_MAX,
		.may_repeat = q->may_repeat,
		.follow = q->opens,
	};
}

/* A server that names another session than ours answers from elsewhere: said once for
   each such id, without the id, and ours stays in use. */
static void note_session(struct http_channel *c, const struct http_exchange *x)
{
	struct mcp_session *s = c->base.session;
	struct str id = http_header(x, "mcp-session-id");
	int status = http_status(x);

	if (status < 200 || status > 299 || !s->id.n || !id.n ||
	    str_eq(id, buf_view(&s->id)) || str_eq(id, buf_view(&c->other_id))) {
		return;
	}
	buf_clear(&c->other_id);
	buf_str(&c->other_id, id);
	events_push(s->conf.events, "session-id-changed",
	            STR("{\"what\":\"a reply named another session\"}"));
}

static int http_send(struct mcp_channel *base, const struct mcp_outgoing *q,
                     struct error *err)
{
	struct http_channel *c = http_of(base);
	struct http_request request = post(c, q);
	struct http_exchange *x = NULL;

	if (http_begin(c->base.session->conf.io, &request, &x, err)) {
		return -1;
	}
	/* there is nothing to read in the answer to such a message, but some servers send
	   an endless stream */
	int failed = http_wait_headers(x, err);
	int status = http_status(x);
	note_session(c, x);
	http_leave(x);
	if (failed && (err->kind == FAIL_INTERRUPTED || err->kind == FAIL_SYSTEM)) {
		return -1;
	}
	if (failed || status < 200 || status > 299) {
		mcp_note_unwanted(c->base.session, q->text, status,
		                  failed ? err->text : NULL);
	}
	return 0;
}

/* ---- receiving ---- */

/* The answer is in an event stream: every event is dealt with as it comes, for the server
   may wait for our reply to one before it sends the next. Hangs up once the answer is
   there. */
static int read_stream(struct http_channel *c, struct http_exchange *x, int64_t id,
                       struct mcp_reply *r, struct error *err)
{
	struct mcp_session *s = c->base.session;
	struct sse_event event;
	struct str piece;
	int more;

	sse_release(&c->sse);
	sse_init(&c->sse, MCP_REPLY_MAX);
	while ((more = http_read(x, &piece, err)) > 0) {
		sse_feed(&c->sse, piece);
		while (sse_next(&c->sse, &event)) {
			if (!str_is(event.type, "message") || event.data.n == 0) {
				continue; /* priming events and foreign types carry no
				             message */
			}
			buf_clear(&s->kept.body);
			buf_str(&s->kept.body, event.data);
			int got = mcp_take(s, buf_view(&s->kept.body), id, &r->message,
			                   err);
			if (got) {
				mcp_set_got(r);
				return got < 0 ? -1 : 0;
			}
		}
		if (c->sse.too_large) {
			return error_set(err, FAIL_PROTOCOL,
			                 "an event of the answer is over %zu MiB",
			                 MCP_REPLY_MAX >> 20);
		}
	}
	if (more < 0) {
		return -1;
	}
	if (r->http_status < 300) {
		mcp_keep_sentence(s, r, MCP_GOT_TRANSPORT,
		                  "the event stream ended without the answer");
	}
	return 0;
}

static int read_body(struct http_channel *c, struct http_exchange *x, int64_t id,
                     struct mcp_reply *r, struct error *err)
{
	struct mcp_session *s = c->base.session;

	buf_clear(&s->kept.body);
	if (http_read_all(x, &s->kept.body, err)) {
		return -1;
	}
	r->text = buf_view(&s->kept.body);
	jsonrpc_read(r->text, &r->message);
	if (r->message.kind == JSONRPC_BATCH) {
		int got = mcp_take(s, r->text, id, &r->message, err);
		if (got > 0) {
			mcp_set_got(r);
		}
		return got < 0 ? -1 : 0;
	}
	if (mcp_is_answer(&r->message, id)) {
		mcp_set_got(r);
	}
	return 0;
}

static int read_reply(struct http_channel *c, struct http_exchange *x, int64_t id,
                      struct mcp_reply *r, struct error *err)
{
	struct mcp_session *s = c->base.session;

	if (http_wait_headers(x, err)) {
		return -1;
	}
	struct str media = http_media_type(x);
	r->http_status = http_status(x);
	buf_clear(&s->kept.media);
	buf_str(&s->kept.media, media);
	r->media = buf_view(&s->kept.media);
	r->got = MCP_GOT_HTTP;
	r->session_lost = r->http_status == 404 && s->id.n > 0;
	buf_clear(&s->kept.location);
	buf_str(&s->kept.location, http_header(x, "Location"));
	r->location = buf_view(&s->kept.location);
	if (strcasecmp(buf_cstr(&s->kept.media), "text/event-stream") == 0) {
		return read_stream(c, x, id, r, err);
	}
	return read_body(c, x, id, r, err);
}

/* Only the answer to a good initialize names a session: refusals carry dead ids. */
static void keep_place(struct http_channel *c, const struct http_exchange *x, bool opened)
{
	struct mcp_session *s = c->base.session;

	buf_clear(&s->url);
	buf_text(&s->url, http_url(x));
	if (opened) {
		buf_clear(&s->id);
		buf_str(&s->id, http_header(x, "mcp-session-id"));
		buf_clear(&c->other_id);
	}
}

static int http_exchange_one(struct mcp_channel *base, const struct mcp_outgoing *q,
                             struct mcp_reply *r, struct error *err)
{
	struct http_channel *c = http_of(base);
	struct mcp_session *s = c->base.session;
	struct http_request request = post(c, q);
	struct http_exchange *x = NULL;

	mcp_begin_exchange(s, q, r);
	if (http_begin(s->conf.io, &request, &x, err)) {
		return -1;
	}
	int failed = read_reply(c, x, q->id, r, err);
	if (q->opens && !failed) {
		keep_place(c, x, r->got == MCP_GOT_RESULT);
	}
	note_session(c, x);
	unsigned repeats = http_repeats(x);
	if (failed) {
		http_end(x); /* without sessions, that is how a request is cancelled */
	} else {
		http_leave(x);
	}
	if (repeats) {
		events_push(s->conf.events, "retry", STR(EVENTS_RETRY));
	}
	return failed ? mcp_or_failure(s, r, err) : 0;
}

/* DELETE; what the server says to it is not looked at (405 is usual). */
static void http_goodbye(struct mcp_channel *base)
{
	static const struct mcp_outgoing nothing = {0};
	struct http_channel *c = http_of(base);
	struct mcp_session *s = c->base.session;
	struct error ignored = {0};
	struct http_exchange *x = NULL;

	if (!s->id.n) {
		return;
	}
	build_headers(c, &nothing);
	struct http_request q = {.method = "DELETE",
	                         .url = buf_cstr(&s->url),
	                         .headers = c->headers,
	                         .header_count = c->header_count,
	                         .timeout_ms = GOODBYE_MS,
	                         .may_repeat = true};
	if (http_begin(s->conf.io, &q, &x, &ignored)) {
		return;
	}
	if (http_wait_headers(x, &ignored)) {
		log_info("the session could not be deleted: %s", ignored.text);
	}
	http_end(x);
	buf_clear(&s->id);
}

const struct mcp_channel_ops mcp_http = {
	.name = "Streamable HTTP",
	.create = http_create,
	.exchange = http_exchange_one,
	.send = http_send,
	.goodbye = http_goodbye,
	.destroy = http_destroy,
};
