/* Messages of an MCP session on their way out and in, event streams included: see
 * mcp_wire.h. */
#include "env/mcp_wire.h"

#include "base/text.h"
#include "json/write.h"

#include <strings.h>

#define ASKED_MAX 1000u /* requests of a server within one exchange */
#define NS_PER_MS 1000000u
#define NOISE_MAX                                                                        \
	((size_t)64 << 10) /* of a text that is no message; its size is kept             \
	                    */

/* ---- sending ---- */

void mcp_wire_headers(struct mcp_session *s)
{
	size_t n = 0;

	s->headers[n++] = "Content-Type: application/json";
	s->headers[n++] = "Accept: application/json, text/event-stream";
	for (size_t i = 0; i < s->conf.header_count; i++) {
		s->headers[n++] = s->conf.headers[i];
	}
	if (s->id.n) {
		buf_clear(&s->id_header);
		buf_printf(&s->id_header, "mcp-session-id: %s", buf_cstr(&s->id));
		s->headers[n++] = buf_cstr(&s->id_header);
	}
	if (s->version_header.n) {
		s->headers[n++] = buf_cstr(&s->version_header);
	}
	s->header_count = n;
}

struct http_request mcp_wire_post(struct mcp_session *s, const struct buf *body,
                                  bool may_repeat)
{
	return (struct http_request){
		.method = "POST",
		.url = buf_cstr(&s->url),
		.headers = s->headers,
		.header_count = s->header_count,
		.body = buf_view(body),
		.timeout_ms = s->conf.timeout_ms,
		.max_bytes = MCP_REPLY_MAX,
		.may_repeat = may_repeat,
	};
}

/* A server that names another session than ours answers from elsewhere: said once for
   each such id, without the id, and ours stays in use. */
static void note_session(struct mcp_session *s, const struct http_exchange *x)
{
	struct str id = http_header(x, "mcp-session-id");
	int status = http_status(x);

	if (status < 200 || status > 299 || !s->id.n || !id.n ||
	    str_eq(id, buf_view(&s->id)) || str_eq(id, buf_view(&s->other_id))) {
		return;
	}
	buf_clear(&s->other_id);
	buf_str(&s->other_id, id);
	events_push(s->conf.events, "session-id-changed",
	            STR("{\"what\":\"a reply named another session\"}"));
}

/* Sends a message that gets no answer of its own (a notification, or our answer to the
   server). What the server says to it is kept as an event when it is no 2xx; -1 only when
   we were interrupted. */
int mcp_wire_send(struct mcp_session *s, const struct buf *body, uint64_t timeout_ms,
                  struct error *err)
{
	struct http_request q = mcp_wire_post(s, body, false);
	struct http_exchange *x = NULL;

	q.timeout_ms = timeout_ms;
	if (http_begin(s->conf.io, &q, &x, err)) {
		return -1;
	}
	/* there is nothing to read in the answer to such a message, but some servers send
	   an endless stream */
	int failed = http_wait_headers(x, err);
	int status = http_status(x);
	note_session(s, x);
	http_leave(x);
	if (failed && (err->kind == FAIL_INTERRUPTED || err->kind == FAIL_SYSTEM)) {
		return -1;
	}
	if (failed || status < 200 || status > 299) {
		struct buf detail = BUF(2 * BUF_MAX_MESSAGE);
		struct json_writer w;

		jw_init(&w, &detail);
		jw_object(&w);
		jw_key(&w, "refused");
		jw_raw(&w, buf_view(body));
		jw_key(&w, "http_status");
		jw_i64(&w, status);
		jw_key(&w, "error");
		jw_text(&w, failed ? err->text : NULL);
		jw_end(&w);
		events_push_json(s->conf.events, "noise", &detail);
		buf_release(&detail);
	}
	return 0;
}

/* ---- what a server sends beside the answer ---- */

struct server_request {
	const char *method, *result;
};

static const struct server_request answers[] = {
	{"ping", "{}"},
	{"roots/list", "{\"roots\":[]}"},
};

/* 0: it is over. */
static uint64_t time_left_ms(const struct mcp_session *s)
{
	uint64_t now = io_now_ns(s->conf.io);

	return now < s->deadline_ns ? (s->deadline_ns - now) / NS_PER_MS : 0;
}

static int answer_server(struct mcp_session *s, const struct jsonrpc_message *m,
                         struct error *err)
{
	struct buf body = BUF(2 * BUF_MAX_MESSAGE); /* the id is the server's */
	uint64_t left = time_left_ms(s);
	size_t i = 0;

	if (!left) {
		return 0; /* too late for both of us: the next read says so */
	}
	if (++s->asked > ASKED_MAX) {
		return error_set(err, FAIL_PROTOCOL,
		                 "the server sent more than %u requests of its own "
		                 "instead of the answer",
		                 ASKED_MAX);
	}
	while (i < ARRAY_LEN(answers) && !str_is(m->method, answers[i].method)) {
		i++;
	}
	if (i < ARRAY_LEN(answers)) {
		jsonrpc_write_result(&body, m->id, str_from(answers[i].result));
	} else {
		jsonrpc_write_error(&body, m->id, -32601, "Method not found");
	}
	int failed = mcp_wire_send(s, &body, s->conf.timeout_ms ? left : 0, err);
	buf_release(&body);
	return failed;
}

static void note_message(struct mcp_session *s, const char *event,
                         const struct jsonrpc_message *m, struct str raw)
{
	struct buf detail = BUF(2 * BUF_MAX_MESSAGE);
	struct json_writer w;

	jw_init(&w, &detail);
	jw_object(&w);
	if (m->kind != JSONRPC_NOT_JSON) {
		jw_key(&w, "message");
		jw_raw(&w, raw);
	} else if (text_utf8_valid(raw) == raw.n && raw.n <= NOISE_MAX) {
		jw_key(&w, "text");
		jw_str(&w, raw);
	} else {
		jw_key(&w, "bytes");
		jw_u64(&w, raw.n);
	}
	jw_end(&w);
	events_push_json(s->conf.events, event, &detail);
	buf_release(&detail);
}

/* A result must carry our id. An error in the reply to a POST belongs to that POST: real
   servers send null, no id, or a string of their own ("server-error"). Only a number that
   is not ours is the late answer to another request. */
static bool is_answer(const struct jsonrpc_message *m, int64_t id)
{
	if (jsonrpc_id_is(m->id, id)) {
		return m->kind == JSONRPC_RESULT || m->kind == JSONRPC_ERROR;
	}
	return m->kind == JSONRPC_ERROR && json_type(m->id) != JSON_NUMBER;
}

/* 1: it was the answer to request `id` and is in *out; 0: something else, dealt with; -1
 */
static int take_message(struct mcp_session *s, const struct jsonrpc_message *m,
                        struct str raw, int64_t id, struct jsonrpc_message *out,
                        struct error *err)
{
	switch (m->kind) {
	case JSONRPC_REQUEST:
		return answer_server(s, m, err);
	case JSONRPC_NOTIFICATION:
		s->tools_changed |= str_is(m->method, "notifications/tools/list_changed");
		note_message(s, "notification", m, raw);
		return 0;
	case JSONRPC_RESULT:
	case JSONRPC_ERROR:
		if (is_answer(m, id)) {
			*out = *m;
			return 1;
		}
		note_message(s, "late-reply", m, raw);
		return 0;
	case JSONRPC_NOT_JSON:
	case JSONRPC_INVALID:
	case JSONRPC_BATCH:
		break;
	}
	note_message(s, "noise", m, raw);
	return 0;
}

/* One message or, in revision 2025-03-26, an array of them. */
static int take_text(struct mcp_session *s, struct str text, int64_t id,
                     struct jsonrpc_message *out, struct error *err)
{
	struct jsonrpc_message m;
	struct str each;
	size_t cursor = 0;
	int got = 0;

	jsonrpc_read(text, &m);
	if (m.kind != JSONRPC_BATCH) {
		return take_message(s, &m, text, id, out, err);
	}
	while (json_next(text, &cursor, &each)) {
		jsonrpc_read_valid(each, &m);
		int one = take_message(s, &m, each, id, out, err);
		if (one < 0) {
			return -1;
		}
		got |= one;
	}
	return got;
}

/* ---- receiving ---- */

static void set_got(struct mcp_reply *r)
{
	r->got = r->message.kind == JSONRPC_RESULT ? MCP_GOT_RESULT : MCP_GOT_ERROR;
}

static void keep_sentence(struct mcp_session *s, struct mcp_reply *r, enum mcp_got got,
                          const char *sentence)
{
	r->got = got;
	buf_clear(&s->text);
	buf_text(&s->text, sentence);
	r->text = buf_view(&s->text);
}

/* The answer is in an event stream: every event is dealt with as it comes, for the server
   may wait for our reply to one before it sends the next. Hangs up once the answer is
   there. */
static int read_stream(struct mcp_session *s, struct http_exchange *x, int64_t id,
                       struct mcp_reply *r, struct error *err)
{
	struct sse_event event;
	struct str piece;
	int more;

	sse_release(&s->sse);
	sse_init(&s->sse, MCP_REPLY_MAX);
	while ((more = http_read(x, &piece, err)) > 0) {
		sse_feed(&s->sse, piece);
		while (sse_next(&s->sse, &event)) {
			if (!str_is(event.type, "message") || event.data.n == 0) {
				continue; /* priming events and foreign types carry no
				             message */
			}
			buf_clear(&s->body);
			buf_str(&s->body, event.data);
			int got = take_text(s, buf_view(&s->body), id, &r->message, err);
			if (got) {
				set_got(r);
				return got < 0 ? -1 : 0;
			}
		}
		if (s->sse.too_large) {
			return error_set(err, FAIL_PROTOCOL,
			                 "an event of the answer is over %zu MiB",
			                 MCP_REPLY_MAX >> 20);
		}
	}
	if (more < 0) {
		return -1;
	}
	if (r->http_status < 300) {
		keep_sentence(s, r, MCP_GOT_TRANSPORT,
		              "the event stream ended without the answer");
	}
	return 0;
}

static int read_body(struct mcp_session *s, struct http_exchange *x, int64_t id,
                     struct mcp_reply *r, struct error *err)
{
	buf_clear(&s->body);
	if (http_read_all(x, &s->body, err)) {
		return -1;
	}
	r->text = buf_view(&s->body);
	jsonrpc_read(r->text, &r->message);
	if (r->message.kind == JSONRPC_BATCH) {
		int got = take_text(s, r->text, id, &r->message, err);
		if (got > 0) {
			set_got(r);
		}
		return got < 0 ? -1 : 0;
	}
	if (is_answer(&r->message, id)) {
		set_got(r);
	}
	return 0;
}

static int read_reply(struct mcp_session *s, struct http_exchange *x, int64_t id,
                      struct mcp_reply *r, struct error *err)
{
	if (http_wait_headers(x, err)) {
		return -1;
	}
	struct str media = http_media_type(x);
	r->http_status = http_status(x);
	buf_clear(&s->scratch);
	buf_str(&s->scratch, media);
	r->media = buf_view(&s->scratch);
	r->got = MCP_GOT_HTTP;
	r->session_lost = r->http_status == 404 && s->id.n > 0;
	buf_clear(&s->location);
	buf_str(&s->location, http_header(x, "Location"));
	r->location = buf_view(&s->location);
	if (strcasecmp(buf_cstr(&s->scratch), "text/event-stream") == 0) {
		return read_stream(s, x, id, r, err);
	}
	return read_body(s, x, id, r, err);
}

/* A peer that fails us is an answer; only an interrupt and our own failures go up. */
static int or_failure(struct mcp_session *s, struct mcp_reply *r, struct error *err)
{
	switch (err->kind) {
	case FAIL_TIMEOUT:
		keep_sentence(s, r, MCP_GOT_TIMEOUT, err->text);
		return 0;
	case FAIL_TRANSPORT:
		keep_sentence(s, r, MCP_GOT_TRANSPORT, err->text);
		return 0;
	case FAIL_PROTOCOL:
		keep_sentence(s, r, MCP_GOT_UNUSABLE, err->text);
		return 0;
	case FAIL_NONE:
	case FAIL_USAGE:
	case FAIL_INPUT:
	case FAIL_SYSTEM:
	case FAIL_INTERRUPTED:
		break;
	}
	return -1;
}

int mcp_wire_exchange(struct mcp_session *s, const struct http_request *q, int64_t id,
                      struct mcp_reply *r, struct error *err)
{
	struct http_exchange *x = NULL;

	*r = (struct mcp_reply){.got = MCP_GOT_TRANSPORT, .asked = id};
	s->asked = 0;
	s->deadline_ns = q->timeout_ms ? io_now_ns(s->conf.io) + q->timeout_ms * NS_PER_MS
	                               : UINT64_MAX;
	if (http_begin(s->conf.io, q, &x, err)) {
		return -1;
	}
	int failed = read_reply(s, x, id, r, err);
	if (q->follow && !failed) {
		buf_clear(&s->url);
		buf_text(&s->url, http_url(x));
	}
	if (!failed && r->got == MCP_GOT_RESULT && q->follow) {
		/* only the answer to a good initialize names a session: refusals carry
		 * dead ids */
		buf_clear(&s->id);
		buf_str(&s->id, http_header(x, "mcp-session-id"));
		buf_clear(&s->other_id);
	}
	note_session(s, x);
	unsigned repeats = http_repeats(x);
	http_leave(x);
	if (repeats) {
		events_push(s->conf.events, "retry", STR(EVENTS_RETRY));
	}
	return failed ? or_failure(s, r, err) : 0;
}
