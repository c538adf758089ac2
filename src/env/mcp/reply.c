/* Classifies MCP replies: see reply.h. The numbers in comments are the shapes of errors, as in
   fixtures/scenario/shape-N-*: 1 no response; 2 an HTTP error without JSON-RPC; 3 one with a
   JSON-RPC error; 4 a JSON-RPC error with HTTP 200; 5 isError; 6 isError misnamed or misplaced;
   7 an error in the text; 8 one in structuredContent only; 9 a stream that ends without the
   response; 10 a result that is none yet; 11 no capacity for a session. */
#include "env/mcp/reply.h"

#include "base/html.h"
#include "env/failure.h"
#include "env/mcp/input.h"
#include "env/reading.h"

#include <inttypes.h>

#define ID_MAX ((size_t)64) /* maximum length of an id in a message */

static void fail(struct reply_reading *m, struct env_reply *out, enum outcome outcome,
                 enum error_layer layer, enum error_class class)
{
	outcome = http_error_outcome(out->http_status, class, outcome);
	reading_fail(m, outcome, layer, class, STR_NONE, out);
}

/* ---- 1, 2, 9: no response, or one that is not MCP ---- */

static void read_no_answer(const struct mcp_reply *r, struct reply_reading *m,
                           struct env_reply *out)
{
	bool late = r->got == MCP_GOT_TIMEOUT;

	reading_fail(m, late ? OUTCOME_TIMEOUT : OUTCOME_TRANSPORT_ERROR, LAYER_TRANSPORT,
	             late ? CLASS_TIMEOUT : CLASS_TRANSPORT, r->text, out);
}

static enum error_class http_class(int status)
{
	return status == 404 || status == 410 ? CLASS_SESSION : http_status_class(status);
}

static void explain_json(const struct mcp_reply *r, struct buf *text)
{
	enum jsonrpc_kind kind = r->message.kind;

	if (kind == JSONRPC_INVALID) {
		buf_text(text, "the reply is JSON, but not a JSON-RPC message");
	} else if (kind == JSONRPC_RESULT || kind == JSONRPC_ERROR) {
		struct str id = r->message.id;

		buf_printf(text, "the reply has id %.*s, expected %" PRId64,
		           (int)(id.n < ID_MAX ? id.n : ID_MAX), id.p, r->asked);
	} else {
		buf_text(text, "the reply is JSON, but not a response to the request");
	}
}

static void explain_http(const struct mcp_reply *r, bool refused, struct reply_reading *m,
                         struct env_reply *out)
{
	const struct json_fault *fault = &r->message.fault;
	AUTO_BUF text = BUF(BUF_MAX_SMALL);

	if (refused && r->http_status < 400 && r->location.n) {
		buf_printf(&text, "HTTP %d to %.*s", r->http_status, STR_ARG(r->location));
	} else if (!r->text.n) {
		buf_printf(&text, "HTTP %d without a body", r->http_status);
	} else if (html_is_page(r->text)) {
		buf_printf(&text, "HTTP %d, ", r->http_status);
		html_summary(r->text, &text);
	} else if (!refused && r->message.kind == JSONRPC_NOT_JSON) {
		buf_printf(&text, "the reply (%.*s) is not JSON: %s at byte %zu",
		           STR_ARG(r->media.n ? r->media : STR("no content type")), fault->why,
		           fault->at);
	} else if (!refused) {
		explain_json(r, &text);
	}
	reading_message(m, text.n ? buf_view(&text) : r->text, out);
}

static void read_http(const struct mcp_reply *r, struct reply_reading *m, struct env_reply *out)
{
	bool refused = r->http_status >= 300;
	enum error_class class = refused ? http_class(r->http_status) : CLASS_PROTOCOL;

	class = html_is_page(r->text) ? web_page_class(class)
	                              : error_text_class(r->text, LAYER_HTTP, class);
	if (class == CLASS_SESSION && r->http_status == 404 && !r->session_lost)
		class = CLASS_PROTOCOL; /* without a session it cannot be lost: the URL is wrong */
	fail(m, out, OUTCOME_PROTOCOL_ERROR, LAYER_HTTP, class);
	out->error.code = reading_code(m, r->http_status);
	explain_http(r, refused, m, out);
	out->raw = r->text.n ? r->text : STR_NONE;
}

/* A response came, but too large, or not HTTP. */
static void read_unusable(const struct mcp_reply *r, struct reply_reading *m, struct env_reply *out)
{
	bool message = r->message.kind == JSONRPC_INVALID;

	fail(m, out, OUTCOME_PROTOCOL_ERROR, message ? LAYER_JSONRPC : LAYER_HTTP, CLASS_PROTOCOL);
	reading_message(m, r->text, out);
}

/* ---- 3, 4, 11: a JSON-RPC error, with its own HTTP status or with 200 ---- */

static enum error_class jsonrpc_class(struct str code)
{
	struct row {
		int64_t code;
		enum error_class class;
	};
	static const struct row rows[] = {
		{-32600, CLASS_PROTOCOL}, {-32601, CLASS_PROTOCOL}, {-32602, CLASS_ARGUMENTS},
		{-32700, CLASS_PROTOCOL}, {-32001, CLASS_SESSION},  {-32603, CLASS_ENVIRONMENT},
		{-32020, CLASS_PROTOCOL}, {-32021, CLASS_PROTOCOL}, {-32022, CLASS_PROTOCOL}};
	int64_t number;

	for (size_t i = 0; json_i64(code, &number) && i < ARRAY_LEN(rows); i++)
		if (rows[i].code == number)
			return rows[i].class;
	return CLASS_OTHER;
}

static void read_error(const struct mcp_reply *r, struct reply_reading *m, struct env_reply *out)
{
	bool http = r->http_status >= 300;
	enum error_class class = jsonrpc_class(r->message.error_code);

	reading_message(m, reading_as_text(m, r->message.error_message), out);
	if (http && http_class(r->http_status) != CLASS_PROTOCOL &&
	    (r->http_status != 404 || r->session_lost)) {
		class = http_class(r->http_status);
	}
	class = error_text_class(out->error.message, http ? LAYER_HTTP : LAYER_JSONRPC, class);
	bool refused_call = class == CLASS_UNKNOWN_TOOL || class == CLASS_ARGUMENTS ||
	                    class == CLASS_ENVIRONMENT || class == CLASS_TIMEOUT;
	fail(m, out, refused_call ? OUTCOME_TOOL_ERROR : OUTCOME_PROTOCOL_ERROR,
	     http ? LAYER_HTTP : LAYER_JSONRPC, class);
	out->error.code = http ? reading_code(m, r->http_status) : error_code_of(r->message.error);
	out->observation = r->message.error;
}

/* ---- the content of a result ---- */

/* The members of a result that are looked at. */
enum { CONTENT, STRUCTURED, IS_ERROR, IS_ERROR_MISNAMED, ERROR, RESULT_TYPE, MEMBERS };

static const struct str result_keys[MEMBERS] = {
	[CONTENT] = STR_INIT("content"),  [STRUCTURED] = STR_INIT("structuredContent"),
	[IS_ERROR] = STR_INIT("isError"), [IS_ERROR_MISNAMED] = STR_INIT("is_error"),
	[ERROR] = STR_INIT("error"),      [RESULT_TYPE] = STR_INIT("resultType")};

/* A value, or JSON held in a string, is what the text of the reply holds. */
static bool is_observed(struct str value, struct str observation)
{
	AUTO_BUF text = BUF(0);
	struct str held = json_held(value, &text);

	return json_equal(value, observation) || (held.p && json_equal(held, observation));
}

/* structuredContent is kept only if it differs from the text. Servers wrap what is no object in a member: FastMCP in
   "result", server-filesystem in "content". */
static void read_structured(struct str structured, struct env_reply *out)
{
	struct json_member inner, second;
	size_t cursor = 0;

	if (json_is_null(structured))
		return;
	bool wrapped = json_next_member(structured, &cursor, &inner) &&
	               !json_next_member(structured, &cursor, &second);
	if (!is_observed(structured, out->observation) &&
	    !(wrapped && is_observed(inner.value, out->observation))) {
		out->structured = structured;
	}
}

/* ---- 5 to 8: errors inside a result ---- */

/* The first text of several content blocks is the message. */
static struct str text_of(struct str observation)
{
	struct str block, text;
	size_t cursor = 0;

	while (json_type(observation) == JSON_ARRAY && json_next(observation, &cursor, &block)) {
		text = JSON_GET(block, "text");
		if (json_type(text) == JSON_STRING)
			return text;
	}
	return observation;
}

static void read_reply_session(struct str body, struct reply_reading *m, struct env_reply *out)
{
	enum { ID, SESSION, COUNT };
	static const struct str keys[COUNT] = {STR_INIT("session_id"), STR_INIT("session")};
	struct str ids[COUNT];

	json_pick(body, keys, COUNT, ids);
	struct str id = json_type(ids[ID]) == JSON_STRING ? ids[ID] : ids[SESSION];
	if (json_type(id) == JSON_STRING) {
		buf_clear(&m->session);
		json_decode(id, &m->session);
		out->reply_session = buf_view(&m->session);
	}
}

/* What the end of the message quotes; absent: nothing. A KeyError of MCP-Gym has only the id of the requested
   session: "Error executing tool NAME: '<id>'". */
static struct str quoted_at_end(struct str message)
{
	str_cut(&message, '\'');
	return message.n > 1 && str_ends(message, STR("'")) ? (struct str){message.p, message.n - 1}
	                                                    : STR_NONE;
}

static bool is_session_error(struct str message, struct str session)
{
	return session.n && str_starts(message, STR("Error executing tool ")) &&
	       str_eq(quoted_at_end(message), session);
}

static void read_session_error(struct reply_reading *m, struct env_reply *out)
{
	struct str id = quoted_at_end(out->error.message);

	if (id.p && !out->reply_session.p) {
		buf_set(&m->session, id);
		out->reply_session = buf_view(&m->session);
	}
}

/* A tool's text: the only block, or the first of several. A JSON list written by a tool has no
   blocks. */
static struct str whole_text(struct str content, const struct env_reply *out)
{
	bool blocks = out->observation.p == content.p;

	return blocks ? text_of(out->observation) : out->observation;
}

/* What the answer itself reports: in its JSON text, in structuredContent, or at the beginning of
   its text. */
static struct hidden_error hidden_error_in(struct str content, struct hidden_error_context before,
                                           const struct env_reply *out)
{
	struct hidden_error r = hidden_error_in_body(out->observation, before);

	r = hidden_error_stronger(r, hidden_error_in_body(out->structured, before));
	return hidden_error_stronger(r, hidden_error_in_text(whole_text(content, out)));
}

/* Which layer reports this result as an error: the outermost, if several do. */
static struct hidden_error claim_of(const struct str *members, const struct mcp_call_context *call,
                                    const struct env_reply *out)
{
	struct hidden_error inside = hidden_error_in(members[CONTENT], call->before, out),
			    claim = inside;
	bool misnamed = json_type(members[IS_ERROR_MISNAMED]) == JSON_TRUE ||
	                json_type(JSON_GET(members[ERROR], "isError")) == JSON_TRUE;

	if (json_type(members[IS_ERROR]) == JSON_TRUE || misnamed) {
		claim.layer = misnamed ? LAYER_FRAMEWORK : LAYER_MCP;
		claim.strength = HIDDEN_ERROR_CERTAIN;
		return claim;
	}
	if (call->is_state && inside.layer == LAYER_BODY && !inside.bare)
		return (struct hidden_error){.layer = LAYER_BODY};
	struct hidden_error named = hidden_error_by_pattern(out->observation, call->error_texts,
	                                                    call->error_text_count);
	return inside.strength == HIDDEN_ERROR_CERTAIN ? inside
	                                               : hidden_error_stronger(inside, named);
}

/* 10: a result that requests input, or has no content. */
static bool read_unfinished(const struct mcp_reply *r, const struct str *members,
                            struct reply_reading *m, struct env_reply *out)
{
	if (json_is_null(members[RESULT_TYPE]) && json_type(members[CONTENT]) == JSON_ARRAY)
		return false; /* as most results are */
	AUTO_BUF why = BUF(BUF_MAX_SMALL);
	bool is_so = mcp_result_is_unusable(r->message.result, r->given_up, &why);

	if (is_so) {
		fail(m, out, OUTCOME_PROTOCOL_ERROR, LAYER_MCP, CLASS_PROTOCOL);
		reading_message(m, buf_view(&why), out);
		out->observation = r->message.result;
	}
	return is_so;
}

/* Stores the message of a claim and derives the class from it. */
static enum error_class store_claim(const struct hidden_error *claim, struct reply_reading *m,
                                    struct env_reply *out)
{
	struct str message = claim->message.p ? claim->message : text_of(out->observation);

	reading_message(m, reading_as_text(m, message), out);
	return error_text_class(out->error.message, claim->layer, CLASS_TOOL);
}

/* Kept until the environment's count is known, when the reply's bytes are gone. */
static void store_suspicion(const struct hidden_error *claim, bool denied, struct reply_reading *m,
                            struct env_reply *out)
{
	size_t n = claim->code.n < sizeof(m->code) ? claim->code.n : 0;

	m->suspected = *claim;
	if (claim->strength == HIDDEN_ERROR_NONE)
		return; /* most replies: nothing to classify */
	m->suspected_class = store_claim(claim, m, out);
	m->denied = denied;
	memcpy(m->code, claim->code.p ? claim->code.p : "", n);
	m->suspected.code = n ? (struct str){m->code, n} : STR_NONE;
	out->error.message = STR_NONE;
}

static void read_result(const struct mcp_reply *r, const struct mcp_call_context *call,
                        struct reply_reading *m, struct env_reply *out)
{
	struct str members[MEMBERS];

	json_pick(r->message.result, result_keys, MEMBERS, members);
	if (read_unfinished(r, members, m, out))
		return;
	out->observation = reading_content(members[CONTENT], &m->observation);
	read_structured(members[STRUCTURED], out);
	read_reply_session(out->observation, m, out);
	out->outcome = OUTCOME_OK;
	struct hidden_error claim = claim_of(members, call, out);
	bool denied = json_type(members[IS_ERROR]) == JSON_FALSE;
	if (claim.strength != HIDDEN_ERROR_CERTAIN) {
		store_suspicion(&claim, denied, m, out);
		return;
	}
	enum error_class class = store_claim(&claim, m, out);
	if (is_session_error(out->error.message, call->env_session))
		class = CLASS_SESSION;
	if (class == CLASS_SESSION)
		read_session_error(m, out);
	fail(m, out, OUTCOME_TOOL_ERROR, claim.layer, class);
	out->error.code = claim.code;
	out->error.disagrees = denied && claim.layer > LAYER_MCP ? LAYER_MCP : LAYER_NONE;
}

void mcp_settle_suspected(struct reply_reading *m, int counted, struct env_reply *out)
{
	if (hidden_error_holds(&m->suspected, counted)) {
		fail(m, out, OUTCOME_TOOL_ERROR, m->suspected.layer, m->suspected_class);
		out->error.message = buf_view(&m->message);
		out->error.code = m->suspected.code;
		out->error.disagrees = m->denied ? LAYER_MCP : LAYER_NONE;
	}
	m->suspected.strength = HIDDEN_ERROR_NONE;
}

void mcp_read_other(const struct mcp_reply *r, struct reply_reading *m, struct env_reply *out)
{
	out->http_status = r->http_status;
	switch (r->got) {
	case MCP_GOT_TRANSPORT:
	case MCP_GOT_TIMEOUT:
		read_no_answer(r, m, out);
		break;
	case MCP_GOT_HTTP:
		read_http(r, m, out);
		break;
	case MCP_GOT_UNUSABLE:
		read_unusable(r, m, out);
		break;
	case MCP_GOT_ERROR:
		read_error(r, m, out);
		break;
	case MCP_GOT_RESULT:
		out->outcome = OUTCOME_OK;
		break;
	}
}

void mcp_read_tool_reply(const struct mcp_reply *r, const struct mcp_call_context *call,
                         struct reply_reading *m, struct env_reply *out)
{
	out->http_status = r->http_status;
	m->suspected.strength = HIDDEN_ERROR_NONE;
	if (r->got == MCP_GOT_RESULT)
		read_result(r, call, m, out);
	else
		mcp_read_other(r, m, out);
}
