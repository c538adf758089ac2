/* Classification of MCP answers: see mcp_reply.h. The numbers in comments are the shapes
   in which an error comes back over MCP, from the wire inwards. */
#include "env/mcp_reply.h"

#include "env/error_text.h"
#include "env/mcp_input.h"

#include <inttypes.h>
#include <stdio.h>

#define ID_MAX      ((size_t)64)   /* of an id in a message */
#define MESSAGE_MAX ((size_t)4096) /* of an error; the observation keeps all of it */

void mcp_reading_init(struct mcp_reading *m)
{
	m->observation = m->structured = m->message = m->session = BUF(BUF_MAX_MESSAGE);
	m->canon[0] = m->canon[1] = BUF(BUF_MAX_MESSAGE);
}

void mcp_reading_release(struct mcp_reading *m)
{
	struct buf *all[] = {&m->observation, &m->structured, &m->message,
	                     &m->session,     &m->canon[0],   &m->canon[1]};

	for (size_t i = 0; i < ARRAY_LEN(all); i++) {
		buf_release(all[i]);
	}
}

static void keep_message(struct mcp_reading *m, struct str text, struct env_reply *out)
{
	size_t n = text.n < MESSAGE_MAX ? text.n : MESSAGE_MAX;

	while (n < text.n && n > 0 && ((unsigned char)text.p[n] & 0xc0) == 0x80) {
		n--; /* not in the middle of a character */
	}
	buf_clear(&m->message);
	buf_add(&m->message, text.p, n);
	out->error.message = buf_view(&m->message);
}

static void keep_json_message(struct mcp_reading *m, struct str value,
                              struct env_reply *out)
{
	struct buf text = BUF(BUF_MAX_MESSAGE);

	if (json_type(value) == JSON_STRING) {
		json_decode(value, &text);
	} else {
		buf_str(&text, value);
	}
	keep_message(m, buf_view(&text), out);
	buf_release(&text);
}

/* Who says "timed out" has answered, but for a gateway that speaks of those behind it. */
static bool nobody_in_time(const struct env_reply *out, enum error_layer layer)
{
	return layer == LAYER_TRANSPORT || out->http_status == 408 ||
	       out->http_status == 504;
}

static void fail(struct env_reply *out, enum outcome outcome, enum error_layer layer,
                 enum error_class class)
{
	out->outcome = error_class_outcome(class, outcome);
	if (nobody_in_time(out, layer)) {
		out->outcome = class == CLASS_TIMEOUT ? OUTCOME_TIMEOUT : out->outcome;
	}
	out->error.layer = layer;
	out->error.class = class;
}

/* ---- 1, 2, 9: no answer at all, or one that is no MCP ---- */

static void read_no_answer(const struct mcp_reply *r, struct mcp_reading *m,
                           struct env_reply *out)
{
	bool late = r->got == MCP_GOT_TIMEOUT;

	fail(out, late ? OUTCOME_TIMEOUT : OUTCOME_TRANSPORT_ERROR, LAYER_TRANSPORT,
	     late ? CLASS_TIMEOUT : CLASS_TRANSPORT);
	keep_message(m, r->text, out);
}

static enum error_class http_class(int status)
{
	switch (status) {
	case 401:
	case 403:
		return CLASS_AUTH;
	case 404:
	case 410:
		return CLASS_SESSION;
	case 408:
	case 504:
		return CLASS_TIMEOUT;
	case 429:
	case 503:
		return CLASS_CAPACITY;
	default:
		return CLASS_PROTOCOL;
	}
}

/* A code is a number or a string; anything else is none. */
static struct str code_in(struct str object)
{
	struct str code = JSON_GET(object, "code");
	enum json_type type = json_type(code);

	return type == JSON_NUMBER || type == JSON_STRING ? code : (struct str){NULL, 0};
}

/* The code is raw JSON, and only the status is at hand. */
static struct str code_of_status(struct mcp_reading *m, int status)
{
	snprintf(m->code, sizeof(m->code), "%d", status);
	return str_from(m->code);
}

static void explain_redirect(const struct mcp_reply *r, struct buf *text)
{
	buf_printf(text, "HTTP %d to ", r->http_status);
	buf_str(text, r->location);
}

static void explain_json(const struct mcp_reply *r, struct buf *text)
{
	enum jsonrpc_kind kind = r->message.kind;

	if (kind == JSONRPC_INVALID) {
		buf_text(text, "the reply is JSON but no JSON-RPC message");
	} else if (kind == JSONRPC_RESULT || kind == JSONRPC_ERROR) {
		struct str id = r->message.id;

		buf_printf(text, "the answer carries id %.*s, asked was %" PRId64,
		           (int)(id.n < ID_MAX ? id.n : ID_MAX), id.p, r->asked);
	} else {
		buf_text(text, "the reply is JSON, but not the answer to the request");
	}
}

static void explain_http(const struct mcp_reply *r, bool refused, struct mcp_reading *m,
                         struct env_reply *out)
{
	const struct json_fault *fault = &r->message.fault;
	struct buf text = BUF(BUF_MAX_SMALL);

	if (refused && r->http_status < 400 && r->location.n) {
		explain_redirect(r, &text);
	} else if (!r->text.n) {
		buf_printf(&text, "HTTP %d without a body", r->http_status);
	} else if (!refused && r->message.kind == JSONRPC_NOT_JSON) {
		buf_printf(&text, "the reply (%.*s) is not JSON: %s at byte %zu",
		           STR_ARG(r->media.n ? r->media : STR("no content type")),
		           fault->why, fault->at);
	} else if (!refused) {
		explain_json(r, &text);
	}
	keep_message(m, text.n ? buf_view(&text) : r->text, out);
	buf_release(&text);
}

static void read_http(const struct mcp_reply *r, struct mcp_reading *m,
                      struct env_reply *out)
{
	bool refused = r->http_status >= 300;
	enum error_class class = refused ? http_class(r->http_status) : CLASS_PROTOCOL;

	class = error_text_class(r->text, LAYER_HTTP, class);
	if (class == CLASS_SESSION && r->http_status == 404 && !r->session_lost) {
		class = CLASS_PROTOCOL; /* we had no session to lose: the URL is wrong */
	}
	fail(out, OUTCOME_PROTOCOL_ERROR, LAYER_HTTP, class);
	out->error.code = code_of_status(m, r->http_status);
	explain_http(r, refused, m, out);
	out->raw = r->text.n ? r->text : (struct str){NULL, 0};
}

/* Something came, but too much, or in no form that HTTP knows. */
static void read_unusable(const struct mcp_reply *r, struct mcp_reading *m,
                          struct env_reply *out)
{
	bool message = r->message.kind == JSONRPC_INVALID;

	fail(out, OUTCOME_PROTOCOL_ERROR, message ? LAYER_JSONRPC : LAYER_HTTP,
	     CLASS_PROTOCOL);
	keep_message(m, r->text, out);
}

/* ---- 3, 4, 11: a JSON-RPC error, with an HTTP status of its own or with 200 ---- */

static enum error_class jsonrpc_class(struct str code)
{
	struct row {
		int64_t code;
		enum error_class class;
	};
	static const struct row rows[] = {
		{-32600, CLASS_PROTOCOL},  {-32601, CLASS_PROTOCOL},
		{-32602, CLASS_ARGUMENTS}, {-32700, CLASS_PROTOCOL},
		{-32001, CLASS_SESSION},   {-32603, CLASS_ENVIRONMENT},
		{-32020, CLASS_PROTOCOL},  {-32021, CLASS_PROTOCOL},
		{-32022, CLASS_PROTOCOL}};
	int64_t number;

	for (size_t i = 0; json_i64(code, &number) && i < ARRAY_LEN(rows); i++) {
		if (rows[i].code == number) {
			return rows[i].class;
		}
	}
	return CLASS_OTHER;
}

static void read_error(const struct mcp_reply *r, struct mcp_reading *m,
                       struct env_reply *out)
{
	bool http = r->http_status >= 300;
	enum error_class class = jsonrpc_class(r->message.error_code);

	keep_json_message(m, r->message.error_message, out);
	if (http && http_class(r->http_status) != CLASS_PROTOCOL &&
	    (r->http_status != 404 || r->session_lost)) {
		class = http_class(r->http_status);
	}
	class = error_text_class(out->error.message, http ? LAYER_HTTP : LAYER_JSONRPC,
	                         class);
	bool refused_call = class == CLASS_UNKNOWN_TOOL || class == CLASS_ARGUMENTS ||
	                    class == CLASS_ENVIRONMENT || class == CLASS_TIMEOUT;
	fail(out, refused_call ? OUTCOME_TOOL_ERROR : OUTCOME_PROTOCOL_ERROR,
	     http ? LAYER_HTTP : LAYER_JSONRPC, class);
	out->error.code =
		http ? code_of_status(m, r->http_status) : code_in(r->message.error);
	out->observation = r->message.error;
}

/* ---- the content of a result ---- */

/* A single text block gives its text, as JSON if it is JSON, else as a string; anything
   else the content array itself. */
static void read_content(struct str content, struct mcp_reading *m, struct env_reply *out)
{
	struct json_fault fault;
	struct str block;
	size_t cursor = 0;

	out->observation = content;
	if (json_type(content) != JSON_ARRAY || json_count(content) != 1 ||
	    !json_next(content, &cursor, &block) ||
	    !json_is(JSON_GET(block, "type"), STR("text"))) {
		return;
	}
	struct str text = JSON_GET(block, "text");
	if (json_type(text) != JSON_STRING) {
		return;
	}
	buf_clear(&m->observation);
	bool whole = json_decode(text, &m->observation);
	if (whole && !m->observation.full &&
	    json_validate(buf_view(&m->observation), &fault) == 0) {
		out->observation = buf_view(&m->observation);
	} else {
		out->observation = text;
	}
}

static bool same_json(struct mcp_reading *m, struct str a, struct str b)
{
	buf_clear(&m->canon[0]);
	buf_clear(&m->canon[1]);
	json_canon(a, NULL, JSON_EDIT_DROP, &m->canon[0]);
	json_canon(b, NULL, JSON_EDIT_DROP, &m->canon[1]);
	return str_eq(buf_view(&m->canon[0]), buf_view(&m->canon[1]));
}

/* structuredContent is worth keeping when it says something else than the text does. */
static void read_structured(struct str result, struct mcp_reading *m,
                            struct env_reply *out)
{
	struct str structured = JSON_GET(result, "structuredContent");
	struct str inner =
		JSON_GET(structured, "result"); /* FastMCP wraps what is no object */

	if (json_is_null(structured) || same_json(m, structured, out->observation)) {
		return;
	}
	if (json_count(structured) == 1 && inner.p &&
	    same_json(m, inner, out->observation)) {
		return;
	}
	out->structured = structured;
}

/* ---- 5 to 8: errors inside a result ---- */

static bool says_failed(struct str value)
{
	bool flag;

	switch (json_type(value)) {
	case JSON_STRING:
		return json_inner(value).n > 0;
	case JSON_OBJECT:
	case JSON_ARRAY:
		return json_count(value) > 0;
	case JSON_TRUE:
		return json_bool(value, &flag) && flag;
	case JSON_ABSENT:
	case JSON_NULL:
	case JSON_FALSE:
	case JSON_NUMBER: /* {"error":0.02} is a measurement */
		break;
	}
	return false;
}

static bool is_false(struct str value)
{
	return json_type(value) == JSON_FALSE;
}

/* The object itself, or what a lone "result" wraps; absent when it is no object. */
static struct str unwrapped(struct str body)
{
	struct str inner = JSON_GET(body, "result");

	if (json_type(body) != JSON_OBJECT) {
		return (struct str){NULL, 0};
	}
	return json_type(inner) == JSON_OBJECT && json_count(body) == 1 ? inner : body;
}

/* The error an object reports about itself at its top level. */
static struct str body_error(struct str body)
{
	struct str error = JSON_GET(unwrapped(body), "error");

	return says_failed(error) ? error : (struct str){NULL, 0};
}

/* What an object says when it reports no error, but no success either: an error of the
   server, or a locked door in a game that is going well. */
static struct str body_failure(struct str body)
{
	body = unwrapped(body);
	bool failed = is_false(JSON_GET(body, "success")) ||
	              is_false(JSON_GET(body, "ok")) ||
	              json_is(JSON_GET(body, "status"), STR("error"));
	struct str message = JSON_GET(body, "message");
	if (failed) {
		return json_type(message) == JSON_STRING ? message : body;
	}
	return (struct str){NULL, 0};
}

/* An error object inside the body may bring its own message. */
static struct str message_of(struct str error)
{
	struct str message = JSON_GET(error, "message");

	return json_type(message) == JSON_STRING ? message : error;
}

/* The first text among several blocks of content says what is wrong. */
static struct str text_of(struct str observation)
{
	struct str block, text;
	size_t cursor = 0;

	while (json_type(observation) == JSON_ARRAY &&
	       json_next(observation, &cursor, &block)) {
		text = JSON_GET(block, "text");
		if (json_type(text) == JSON_STRING) {
			return text;
		}
	}
	return observation;
}

static void read_reply_session(struct str body, struct mcp_reading *m,
                               struct env_reply *out)
{
	static const char *const keys[] = {"session_id", "session"};

	for (size_t i = 0; json_type(body) == JSON_OBJECT && i < ARRAY_LEN(keys); i++) {
		struct str id = json_get(body, str_from(keys[i]));

		if (json_type(id) == JSON_STRING) {
			buf_clear(&m->session);
			json_decode(id, &m->session);
			out->reply_session = buf_view(&m->session);
			return;
		}
	}
}

/* The server names a session as its whole complaint: a KeyError of MCP-Gym, "Error
   executing tool NAME:
   '<id>'". */
static bool complains_of_session(struct str message, struct str session)
{
	struct str quoted = {
		message.n > session.n + 2 ? message.p + message.n - session.n - 2 : NULL,
		session.n + 2};

	return session.n && quoted.p &&
	       str_starts(message, STR("Error executing tool ")) && quoted.p[0] == '\'' &&
	       str_ends(quoted, STR("'")) && str_starts(str_skip(quoted, 1), session);
}

/* A KeyError names the session it was asked for, and nothing else: "Error executing tool
 * NAME: '<id>'". */
static void read_complained_session(struct mcp_reading *m, struct env_reply *out)
{
	struct str rest = out->error.message;
	const char *quote = rest.n ? memchr(rest.p, '\'', rest.n) : NULL;

	if (out->reply_session.p || !quote || !str_ends(rest, STR("'"))) {
		return;
	}
	rest = str_skip(rest, (size_t)(quote - rest.p) + 1);
	if (rest.n > 1) {
		buf_clear(&m->session);
		buf_add(&m->session, rest.p, rest.n - 1);
		out->reply_session = buf_view(&m->session);
	}
}

struct claim {
	enum error_layer layer;
	struct str error; /* raw JSON; absent: the observation is the message */
};

static bool flag_is_true(struct str value)
{
	return json_type(value) == JSON_TRUE;
}

/* A tool's text: the only block, or the first among several. A list that a tool wrote as
   JSON has no blocks. */
static bool reads_like_error(struct str result, const struct env_reply *out)
{
	bool blocks = out->observation.p == JSON_GET(result, "content").p;
	struct str text = blocks ? text_of(out->observation) : out->observation;

	return json_type(text) == JSON_STRING && error_text_suspected(json_inner(text));
}

/* What there is to read in a result: the text's JSON, else structuredContent. */
static struct str found_in(struct str (*look)(struct str body),
                           const struct env_reply *out)
{
	struct str found = look(out->observation);

	return found.p ? found : look(out->structured);
}

/* The weak evidence: which layer reads like an error, without calling itself one. */
static enum error_layer suspect(struct str result, const struct env_reply *out)
{
	if (found_in(body_failure, out).p) {
		return LAYER_BODY;
	}
	return reads_like_error(result, out) ? LAYER_TEXT : LAYER_NONE;
}

/* Who says that this result is an error, first that applies. */
static struct claim claim_of(struct str result, const struct env_reply *out)
{
	struct str is_error = JSON_GET(result, "isError");
	struct str body = body_error(out->observation);
	struct str weak = found_in(body_failure, out);

	if (flag_is_true(is_error)) {
		return (struct claim){LAYER_MCP,
		                      body.p ? body : body_failure(out->observation)};
	}
	if (flag_is_true(JSON_GET(result, "is_error")) ||
	    flag_is_true(JSON_GET(JSON_GET(result, "error"), "isError"))) {
		return (struct claim){LAYER_FRAMEWORK,
		                      body.p ? body : body_failure(out->observation)};
	}
	body = found_in(body_error, out);
	if (body.p) {
		return (struct claim){LAYER_BODY, body};
	}
	/* what the server calls a success is not doubted for weak evidence alone */
	enum error_layer layer = is_error.p ? LAYER_NONE : suspect(result, out);
	return (struct claim){layer, layer == LAYER_BODY ? weak : (struct str){NULL, 0}};
}

/* 10: a result that is no result yet, or without any content. */
static bool read_unfinished(const struct mcp_reply *r, struct mcp_reading *m,
                            struct env_reply *out)
{
	struct buf why = BUF(BUF_MAX_SMALL);
	bool is_so = mcp_result_is_none(r, &why);

	if (is_so) {
		fail(out, OUTCOME_PROTOCOL_ERROR, LAYER_MCP, CLASS_PROTOCOL);
		keep_message(m, buf_view(&why), out);
		out->observation = r->message.result;
	}
	buf_release(&why);
	return is_so;
}

static void read_result(const struct mcp_reply *r, struct str env_session,
                        struct mcp_reading *m, struct env_reply *out)
{
	struct str result = r->message.result;

	if (read_unfinished(r, m, out)) {
		return;
	}
	read_content(JSON_GET(result, "content"), m, out);
	read_structured(result, m, out);
	read_reply_session(out->observation, m, out);
	struct claim claim = claim_of(result, out);
	if (claim.layer == LAYER_NONE) {
		m->suspected = suspect(result, out);
		out->outcome = OUTCOME_OK;
		return;
	}
	keep_json_message(
		m, claim.error.p ? message_of(claim.error) : text_of(out->observation),
		out);
	enum error_class class =
		error_text_class(out->error.message, claim.layer, CLASS_TOOL);
	if (complains_of_session(out->error.message, env_session)) {
		class = CLASS_SESSION;
	}
	if (class == CLASS_SESSION) {
		read_complained_session(m, out);
	}
	fail(out, OUTCOME_TOOL_ERROR, claim.layer, class);
	if (is_false(JSON_GET(result, "isError")) && claim.layer > LAYER_MCP) {
		out->error.disagrees = LAYER_MCP;
	}
	out->error.code = code_in(claim.error);
}

void mcp_confirm_suspicion(struct mcp_reading *m, struct env_reply *out)
{
	struct str body = found_in(body_failure, out);

	keep_json_message(m, body.p ? body : text_of(out->observation), out);
	fail(out, OUTCOME_TOOL_ERROR, m->suspected,
	     error_text_class(out->error.message, m->suspected, CLASS_TOOL));
	out->error.disagrees = LAYER_MCP;
}

void mcp_read_refusal(const struct mcp_reply *r, struct mcp_reading *m,
                      struct env_reply *out)
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

void mcp_read_tool_reply(const struct mcp_reply *r, struct str env_session,
                         struct mcp_reading *m, struct env_reply *out)
{
	out->http_status = r->http_status;
	m->suspected = LAYER_NONE;
	if (r->got == MCP_GOT_RESULT) {
		read_result(r, env_session, m, out);
	} else {
		mcp_read_refusal(r, m, out);
	}
}
