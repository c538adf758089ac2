/* Messages of an MCP session, independent of the transport: see mcp_session.h. */
#include "env/mcp/mcp_session.h"

#include "base/base64.h"
#include "base/text.h"
#include "env/mcp/input.h"

#include <stdio.h>

#define ASKED_MAX 1000u   /* requests of the server within one exchange */
#define ASIDE_MS  5000ull /* timeout for sending a response to the server */

void mcp_begin_exchange(struct mcp_session *s, const struct mcp_outgoing *q, struct mcp_reply *r)
{
	*r = (struct mcp_reply){.got = MCP_GOT_TRANSPORT, .asked = q->id};
	s->asked = s->unrelated = 0;
	s->broken = NULL;
	s->deadline_ns = q->timeout_ms ? io_deadline_ns(s->conf.io, q->timeout_ms) : UINT64_MAX;
}

uint64_t mcp_time_left_ms(const struct mcp_session *s)
{
	return io_left_ms(s->conf.io, s->deadline_ns);
}

/* ---- other messages of the server ---- */

static int answer_server(struct mcp_session *s, const struct jsonrpc_message *m, struct error *err)
{
	AUTO_BUF body = BUF(2 * BUF_MAX_MESSAGE); /* includes the server's id */
	AUTO_BUF result = BUF(BUF_MAX_MESSAGE), why = BUF(BUF_MAX_SMALL);
	uint64_t left = mcp_time_left_ms(s);

	if (!left)
		return 0; /* the connection is lost: the next read reports it */
	if (++s->asked > ASKED_MAX) {
		return error_set(err, FAIL_PROTOCOL,
		                 "the server sent more than %u requests instead of the response",
		                 ASKED_MAX);
	}
	if (mcp_answer_request(m->method, m->params, &result, &why))
		jsonrpc_write_result(&body, m->id, buf_view(&result));
	else
		jsonrpc_write_error(&body, m->id, -32601, "Method not found");
	if (str_is(m->method, "elicitation/create")) { /* answered on the user's behalf */
		events_pack(s->conf.events, EVENT_NOTIFICATION,
		            "{method:'elicitation/create',params:%r,answered:%r,why:%?s}",
		            m->params, buf_view(&result), buf_given(&why));
	}
	/* if it is not accepted, there must be time left for the awaited response */
	uint64_t timeout_ms = left / 2 < ASIDE_MS ? left / 2 + 1 : ASIDE_MS;
	struct mcp_outgoing q = {.text = buf_view(&body), .timeout_ms = timeout_ms};
	return s->ops->send(s->channel, &q, err);
}

void mcp_note_retry(struct mcp_session *s, const struct mcp_reply *refusal, const char *why)
{
	events_pack(s->conf.events, EVENT_RETRY, "{why:%t,http_status:%d,code:%r}", why,
	            refusal->http_status, refusal->message.error_code);
}

void mcp_note_refused(struct mcp_session *s, struct str message, int http_status, const char *why)
{
	events_pack(s->conf.events, EVENT_NOISE, "{refused:%r,http_status:%d,error:%t}", message,
	            http_status, why);
}

/* Some servers return our number as a string. */
static bool is_id(struct str id, int64_t number)
{
	uint64_t n;

	return jsonrpc_id_is(id, number) || (json_type(id) == JSON_STRING &&
	                                     text_u64(json_inner(id), &n) && n == (uint64_t)number);
}

/* A result must carry our id. An error in the reply to a POST belongs to that POST: real servers
   send null, no id, or a string of their own ("server-error"). Only a different number marks a
   late answer to another request. */
bool mcp_is_answer(const struct jsonrpc_message *m, int64_t id)
{
	if (is_id(m->id, id))
		return m->kind == JSONRPC_RESULT || m->kind == JSONRPC_ERROR;
	return m->kind == JSONRPC_ERROR && json_type(m->id) != JSON_NUMBER;
}

/* If all responses come over one stream, an error without id belongs to this request only if no
   other request is pending. */
static bool is_awaited(const struct mcp_session *s, const struct jsonrpc_message *m, int64_t id)
{
	if (id == MCP_NO_ID)
		return false;
	if (m->kind == JSONRPC_INVALID)
		return is_id(m->id, id) && !m->method.p; /* there will be no other response */
	if (!s->ops->shared || is_id(m->id, id))
		return mcp_is_answer(m, id);
	return m->kind == JSONRPC_ERROR && json_is_null(m->id) && !s->late_responses;
}

/* 1: it was the answer to request `id` and is in *out; 0: something else, processed; -1 */
static int process_message(struct mcp_session *s, const struct jsonrpc_message *m, struct str raw,
                           int64_t id, struct jsonrpc_message *out, struct error *err)
{
	switch (m->kind) {
	case JSONRPC_REQUEST:
		if (!s->modern)
			return answer_server(s, m, err);
		break; /* not allowed there, and not answered */
	case JSONRPC_NOTIFICATION:
		s->tools_changed |= str_is(m->method, "notifications/tools/list_changed");
		mcp_note_message(s->conf.events, EVENT_NOTIFICATION, m, raw);
		return 0;
	case JSONRPC_RESULT:
	case JSONRPC_ERROR:
		if (is_awaited(s, m, id)) {
			*out = *m;
			return 1;
		}
		s->late_responses -= s->late_responses > 0;
		s->unrelated++;
		mcp_note_message(s->conf.events, EVENT_LATE_REPLY, m, raw);
		return 0;
	case JSONRPC_NOT_JSON:
	case JSONRPC_INVALID:
	case JSONRPC_BATCH:
		break;
	}
	s->unrelated++;
	if (m->kind == JSONRPC_NOT_JSON && str_starts(raw, STR("{")))
		s->broken = m->fault.why; /* possibly the response */
	mcp_note_message(s->conf.events, EVENT_NOISE, m, raw);
	if (is_awaited(s, m, id)) {
		*out = *m;
		return 1;
	}
	return 0;
}

int mcp_process(struct mcp_session *s, struct str text, int64_t id, struct jsonrpc_message *out,
                struct error *err)
{
	struct jsonrpc_message m;
	struct str each;
	size_t cursor = 0;
	int got = 0;

	jsonrpc_read(text, &m);
	if (m.kind != JSONRPC_BATCH)
		return process_message(s, &m, text, id, out, err);
	while (json_next(text, &cursor, &each)) {
		jsonrpc_read_valid(each, &m);
		int one = process_message(s, &m, each, id, out, err);
		if (one < 0)
			return -1;
		got |= one;
	}
	return got;
}

/* ---- the end of an exchange ---- */

int mcp_timeout_error(const struct mcp_session *s, const struct mcp_outgoing *q, struct error *err)
{
	AUTO_BUF span = BUF(BUF_MAX_SMALL), but = BUF(BUF_MAX_SMALL);

	text_put_duration(&span, q->timeout_ms);
	if (s->unrelated) {
		buf_printf(&but, ", although %u unrelated message%s arrived", s->unrelated,
		           s->unrelated > 1 ? "s" : "");
		if (s->broken)
			buf_printf(&but, " (one is not JSON: %s)", s->broken);
	}
	return error_set(err, FAIL_TIMEOUT, "no reply to %s within %s%s", q->method,
	                 buf_cstr(&span), buf_cstr(&but));
}

void mcp_set_got(struct mcp_session *s, struct mcp_reply *r)
{
	char sentence[128];

	if (r->message.kind == JSONRPC_INVALID) {
		snprintf(sentence, sizeof(sentence), "the reply is not a JSON-RPC response: %s",
		         mcp_message_fault(&r->message));
		mcp_set_failure(s, r, MCP_GOT_UNUSABLE, sentence);
		return;
	}
	r->got = r->message.kind == JSONRPC_RESULT ? MCP_GOT_RESULT : MCP_GOT_ERROR;
	if (json_type(r->message.id) == JSON_STRING && is_id(r->message.id, r->asked) &&
	    !s->ids_are_text) {
		s->ids_are_text = true;
		events_push(s->conf.events, EVENT_NOISE,
		            STR("{\"why\":\"the request's id came back as a string\"}"));
	}
}

void mcp_set_failure(struct mcp_session *s, struct mcp_reply *r, enum mcp_got got,
                     const char *sentence)
{
	r->got = got;
	buf_set(&s->kept.text, str_from(sentence));
	r->text = buf_view(&s->kept.text);
}

int mcp_or_failure(struct mcp_session *s, struct mcp_reply *r, struct error *err)
{
	if (!error_is_peers(err))
		return -1;
	mcp_set_failure(s, r,
	                err->kind == FAIL_TIMEOUT     ? MCP_GOT_TIMEOUT
	                : err->kind == FAIL_TRANSPORT ? MCP_GOT_TRANSPORT
	                                              : MCP_GOT_UNUSABLE,
	                err->text);
	return 0;
}

int mcp_note_trouble(struct mcp_session *s, struct error *err)
{
	if (!error_is_peers(err))
		return -1;
	events_pack(s->conf.events, EVENT_NOISE, "{why:%t}", err->text);
	return 0;
}

/* ---- idle ---- */

int mcp_listen_idle(void *session, uint64_t *wake_ns, struct error *err)
{
	struct mcp_session *s = session;

	if (s->request_pending)
		return 0;
	s->asked = 0;
	s->deadline_ns = io_deadline_ns(s->conf.io, ASIDE_MS);
	int did = s->ops->listen(s->channel, wake_ns, err);
	return did >= 0 ? did : mcp_note_trouble(s, err) ? -1 : 1;
}

/* ---- what is recorded of messages ---- */

#define NOISE_MAX ((size_t)64 << 10) /* recorded bytes of a text that is not a message */

void mcp_note_message(struct event_queue *q, enum event_kind kind, const struct jsonrpc_message *m,
                      struct str raw)
{
	AUTO_BUF base64 = BUF(2 * NOISE_MAX);

	if (m->kind != JSONRPC_NOT_JSON) {
		events_pack(q, kind, "{message:%r}", raw);
	} else if (raw.n > NOISE_MAX) {
		events_pack(q, kind, "{bytes:%i}", (int64_t)raw.n);
	} else if (text_utf8_valid(raw) == raw.n) {
		events_pack(q, kind, "{text:%s}", raw);
	} else {
		base64_encode(&base64, raw);
		events_pack(q, kind, "{base64:%s}", buf_view(&base64));
	}
}

const char *mcp_message_fault(const struct jsonrpc_message *m)
{
	if (!json_is_null(m->error) && json_type(m->error) != JSON_OBJECT)
		return "its error is not an object";
	if (!m->result.n && json_is_null(m->error))
		return "it has neither a result nor an error";
	if (!json_is_null(m->result) && !json_is_null(m->error))
		return "it has both a result and an error";
	return "it lacks \"jsonrpc\":\"2.0\"";
}
