/* Errors and the outcomes of failed calls: see failure.h. */
#include "env/failure.h"

#include "json/scan.h"

/* ---- the texts of errors ---- */

/* Parts that must occur in this order anywhere in the message, ignoring case; '*' between two
   parts matches any text. A leading '^' anchors the first part. The first matching row wins. */
struct pattern {
	const char *parts;
	enum error_class class;
	bool loose; /* too common: not used for a tool's own text */
};

static const struct pattern patterns[] = {
	/* capacity: MCP-Gym's proxy, OpenEnv, the MCP SDK's max_sessions, gRPC */
	{"maximum concurrent environments (", CLASS_CAPACITY, false},
	{"maximum concurrent sessions", CLASS_CAPACITY, false},
	{"too many open sessions", CLASS_CAPACITY, false},
	{"server at capacity", CLASS_CAPACITY, false},
	{"capacity_reached", CLASS_CAPACITY, false},
	{"resource_exhausted", CLASS_CAPACITY, false},
	{"maximum*concurrent", CLASS_CAPACITY, true},
	{"maximum*environments", CLASS_CAPACITY, true},
	{"maximum*sessions", CLASS_CAPACITY, true},
	{"max*concurrent*reached", CLASS_CAPACITY, true},
	{"at capacity", CLASS_CAPACITY, true},
	/* unknown session or environment: MCP SDKs, MCP-Gym, session proxies */
	{"^session not found", CLASS_SESSION, false},
	{"^session * not found", CLASS_SESSION, false},
	{"^unknown session", CLASS_SESSION, false},
	{"^not found: session", CLASS_SESSION, false},
	{"no valid session id", CLASS_SESSION, false},
	{"missing session id", CLASS_SESSION, false},
	{"^server not initialized", CLASS_SESSION, false},
	{"expect initialize request", CLASS_SESSION, false},
	{"^no server assigned to session", CLASS_SESSION, false},
	{"^failed to create backend for session", CLASS_SESSION, false},
	{"stable mcp session id", CLASS_SESSION, false},
	{"^the environment is closed", CLASS_SESSION, false},
	{"^environment is closed", CLASS_SESSION, false},
	{"^error executing tool *: 'gym_", CLASS_SESSION, false},
	{"^error executing tool *: 'sim_", CLASS_SESSION, false},
	/* unknown tool */
	{"^unknown tool", CLASS_UNKNOWN_TOOL, false},
	{"^tool * not found", CLASS_UNKNOWN_TOOL, false},
	{"-32602: tool * not found", CLASS_UNKNOWN_TOOL, false},
	{"^tool * not available", CLASS_UNKNOWN_TOOL, false},
	{"^error: unknown tool", CLASS_UNKNOWN_TOOL, false},
	{"^error: tool * not found", CLASS_UNKNOWN_TOOL, false},
	{"^error: tool * not available", CLASS_UNKNOWN_TOOL, false},
	/* invalid arguments: FastMCP (pydantic), TypeScript SDK (zod) */
	{"validation error", CLASS_ARGUMENTS, false},
	{"invalid arguments", CLASS_ARGUMENTS, false},
	{"invalid action", CLASS_ARGUMENTS, false},
	{"invalid params", CLASS_ARGUMENTS, false},
	{"invalid request parameters", CLASS_ARGUMENTS, false},
	{"timed out", CLASS_TIMEOUT, false},
	{"unauthorized", CLASS_AUTH, false},
};

/* Finds the part and returns the text after it; absent if not found. */
static struct str after_part(struct str s, struct str part, bool at_start)
{
	do {
		if (str_starts_nocase(s, part))
			return str_skip(s, part.n);
		s = str_skip(s, 1);
	} while (s.n >= part.n && s.n > 0 && !at_start);
	return STR_NONE;
}

bool error_text_matches(struct str message, const char *parts)
{
	bool at_start = *parts == '^';

	for (parts += at_start; message.p; at_start = false) {
		size_t n = strcspn(parts, "*");

		message = after_part(message, (struct str){parts, n}, at_start);
		if (!parts[n])
			return message.p != NULL;
		parts += n + 1;
	}
	return false;
}

/* Was the message written by a layer other than the tool? */
static bool is_not_tool(enum error_layer layer)
{
	return layer == LAYER_TRANSPORT || layer == LAYER_HTTP || layer == LAYER_JSONRPC;
}

enum error_class error_text_class(struct str message, enum error_layer layer,
                                  enum error_class fallback)
{
	/* only the beginning: stack traces are not searched */
	struct str head = {message.p, message.n < 512 ? message.n : 512};

	if (!head.n)
		return fallback;
	for (size_t i = 0; i < ARRAY_LEN(patterns); i++) {
		if ((is_not_tool(layer) || !patterns[i].loose) &&
		    error_text_matches(head, patterns[i].parts)) {
			return patterns[i].class;
		}
	}
	return fallback;
}

struct str error_code_of(struct str object)
{
	struct str code = JSON_GET(object, "code");
	enum json_type type = json_type(code);

	return type == JSON_NUMBER || type == JSON_STRING ? code : STR_NONE;
}

/* ---- outcomes ---- */

enum outcome error_class_outcome(enum error_class c, enum outcome fallback)
{
	return c == CLASS_CAPACITY  ? OUTCOME_CAPACITY
	       : c == CLASS_SESSION ? OUTCOME_SESSION_LOST
	                            : fallback;
}

enum error_class http_status_class(int status)
{
	switch (status) {
	case 401:
	case 403:
		return CLASS_AUTH;
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

enum error_class web_page_class(enum error_class of_status)
{
	return of_status == CLASS_AUTH || of_status == CLASS_TIMEOUT ? of_status : CLASS_PROTOCOL;
}

enum outcome http_error_outcome(int status, enum error_class c, enum outcome fallback)
{
	bool unanswered = c == CLASS_TIMEOUT && http_status_class(status) == CLASS_TIMEOUT;

	return unanswered ? OUTCOME_TIMEOUT : error_class_outcome(c, fallback);
}

void env_reply_from_error(const struct error *e, struct env_reply *out)
{
	bool late = e->kind == FAIL_TIMEOUT, protocol = e->kind == FAIL_PROTOCOL;

	*out = (struct env_reply){
		.outcome = late       ? OUTCOME_TIMEOUT
	                   : protocol ? OUTCOME_PROTOCOL_ERROR
	                              : OUTCOME_TRANSPORT_ERROR,
		.error = {.code = e->kind == FAIL_INTERRUPTED ? STR("\"interrupted\"") : STR_NONE,
	                  .class = late       ? CLASS_TIMEOUT
	                           : protocol ? CLASS_PROTOCOL
	                                      : CLASS_TRANSPORT,
	                  .layer = protocol ? LAYER_HTTP : LAYER_TRANSPORT,
	                  .message = str_from(e->text)},
		REPLY_UNKNOWN};
}

const char *env_refusal_advice(const struct env_reply *refusal)
{
	return refusal->error.class == CLASS_AUTH
	               ? " (send credentials with \1header\2 or \1header_env\2)"
	               : "";
}

bool env_reply_received(const struct env_reply *reply)
{
	return reply->outcome == OUTCOME_OK || reply->error.layer != LAYER_TRANSPORT;
}

bool env_reply_of_failed_step(const struct error *err, struct env_reply *reply)
{
	if (reply->outcome != OUTCOME_NONE) {
		reply->reward = STR_NONE;
		reply->terminated = reply->truncated = -1;
		reply->env_steps = -1;
		return true;
	}
	if (err->kind != FAIL_INTERRUPTED)
		return false;
	env_reply_from_error(err, reply);
	reply->error.message = STR("interrupted before the reply");
	return true;
}
