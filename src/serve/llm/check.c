/* Checks of requests: see check.h. */
#include "serve/llm/reply_script.h"

#define TEXT_MAX ((size_t)32 << 20)

struct checking {
	struct arena *arena;
	struct scripted_request *out;
	struct buf *why;
	size_t at;             /* index of the message */
	struct str open;       /* calls of the last assistant message, raw array */
	size_t cursor;         /* position in `open` */
	struct str unanswered; /* raw id of the next one; absent: all are answered */
};

static bool reject_message(struct checking *c, const char *what)
{
	buf_printf(c->why, "messages[%zu]: %s", c->at, what);
	return false;
}

static bool reject(struct checking *c, const char *what)
{
	buf_text(c->why, what);
	return false;
}

static void expect_next(struct checking *c)
{
	struct str call;

	c->unanswered = json_next(c->open, &c->cursor, &call) ? JSON_GET(call, "id") : STR_NONE;
}

/* Ollama refuses a history with arguments that are not an object. */
static bool are_json_object(struct checking *c, struct str arguments)
{
	struct str text = json_text(c->arena, arguments);

	return text.p && json_is_valid(text) && json_type(text) == JSON_OBJECT;
}

static bool check_call(struct checking *c, struct str call)
{
	struct str function = JSON_GET(call, "function"), id = JSON_GET(call, "id");
	const char *what = json_type(id) != JSON_STRING || !json_inner(id).n
	                           ? "a tool call has no id"
	                   : !json_is(JSON_GET(call, "type"), STR("function"))
	                           ? "a tool call's type is not \"function\""
	                   : json_type(JSON_GET(function, "name")) != JSON_STRING
	                           ? "a tool call has no function.name"
	                   : !are_json_object(c, JSON_GET(function, "arguments"))
	                           ? "invalid tool call arguments: not the text of a JSON object"
	                           : NULL;

	return !what || reject_message(c, what);
}

static bool check_assistant(struct checking *c, struct str message)
{
	struct str calls = JSON_GET(message, "tool_calls"), call;

	c->out->turn++;
	if (!calls.p) {
		return !json_is_null(JSON_GET(message, "content")) ||
		       reject_message(c, "an assistant message has neither content nor tool_calls");
	}
	if (json_type(calls) != JSON_ARRAY || !json_count(calls))
		return reject_message(c, "tool_calls is not an array of at least one call");
	for (size_t cursor = 0; json_next(calls, &cursor, &call);)
		if (!check_call(c, call))
			return false;
	c->open = calls;
	c->cursor = 0;
	expect_next(c);
	return true;
}

static bool check_tool(struct checking *c, struct str message)
{
	struct str id = JSON_GET(message, "tool_call_id");

	if (!c->unanswered.p) {
		return reject_message(c, "a message of role tool must be a response to a preceding "
		                         "message with tool_calls");
	}
	if (!str_eq(id, c->unanswered)) {
		return reject_message(
			c, "it is not the result of the next open call (results must be in the "
			   "order of the calls)");
	}
	expect_next(c);
	return true;
}

static bool check_message(struct checking *c, struct str message)
{
	struct str role = JSON_GET(message, "role"), content = JSON_GET(message, "content");
	enum json_type type = json_type(content);
	bool assistant = json_is(role, STR("assistant"));

	if (json_type(message) != JSON_OBJECT || json_type(role) != JSON_STRING)
		return reject_message(c, "it has no role");
	if (type != JSON_STRING && type != JSON_ARRAY && !(assistant && json_is_null(content)))
		return reject_message(c, "content is neither a string nor an array of parts");
	if (json_is(role, STR("tool")))
		return check_tool(c, message);
	if (c->unanswered.p) {
		return reject_message(
			c, "an assistant message with tool_calls must be followed by a message "
			   "of role tool for each of them");
	}
	if (assistant)
		return check_assistant(c, message);
	return json_is(role, STR("system")) || json_is(role, STR("developer")) ||
	       json_is(role, STR("user")) || reject_message(c, "unknown role");
}

static bool check_messages(struct checking *c, struct str messages)
{
	struct str message = STR_NONE;

	if (json_type(messages) != JSON_ARRAY || !json_count(messages))
		return reject(c, "messages is not an array of at least one message");
	for (size_t cursor = 0; json_next(messages, &cursor, &message); c->at++)
		if (!check_message(c, message))
			return false;
	if (c->unanswered.p)
		return reject_message(c, "the last tool calls have no result");
	c->out->last = json_text(c->arena, JSON_GET(message, "content"));
	return true;
}

static bool check_tools(struct checking *c, struct str body)
{
	struct str tools = JSON_GET(body, "tools"), tool;

	if (!tools.p) {
		return !JSON_GET(body, "tool_choice").p ||
		       reject(c, "tool_choice is only allowed when tools are given");
	}
	if (json_type(tools) != JSON_ARRAY || !json_count(tools))
		return reject(c, "tools is not an array of at least one tool");
	for (size_t cursor = 0; json_next(tools, &cursor, &tool);) {
		struct str function = JSON_GET(tool, "function");

		if (!json_is(JSON_GET(tool, "type"), STR("function")) ||
		    json_type(JSON_GET(function, "name")) != JSON_STRING ||
		    json_type(JSON_GET(function, "parameters")) != JSON_OBJECT) {
			return reject(
				c,
				"a tool is not "
				"{\"type\":\"function\",\"function\":{\"name\",\"parameters\"}}");
		}
	}
	return true;
}

static bool check_stream(struct checking *c, struct str body)
{
	struct str options = JSON_GET(body, "stream_options");

	json_bool(JSON_GET(body, "stream"), &c->out->stream);
	json_bool(JSON_GET(options, "include_usage"), &c->out->include_usage);
	return c->out->stream || json_is_null(options) ||
	       reject(c, "stream_options is only allowed when stream is true");
}

static bool check_request(struct checking *c, struct str body)
{
	struct scripted_request *out = c->out;
	struct json_fault fault;
	struct str n;
	int64_t choices;

	*out = (struct scripted_request){.stream = false};
	if (json_validate(body, &fault) != 0) {
		buf_printf(c->why, "the body is not JSON: %s", fault.why);
		return false;
	}
	if (json_type(body) != JSON_OBJECT || json_type(JSON_GET(body, "model")) != JSON_STRING)
		return reject(c, "you must provide a model parameter");
	out->model = json_text(c->arena, JSON_GET(body, "model"));
	out->seed.given = json_i64(JSON_GET(body, "seed"), &out->seed.value);
	n = JSON_GET(body, "n");
	if (!json_is_null(n) && (!json_i64(n, &choices) || choices != 1))
		return reject(c, "n is not 1: a script has one reply to a request");
	return check_stream(c, body);
}

bool llm_check(struct str body, struct arena *arena, struct scripted_request *out, struct buf *why)
{
	struct checking c = {.arena = arena, .out = out, .why = why};

	return check_request(&c, body) && check_messages(&c, JSON_GET(body, "messages")) &&
	       check_tools(&c, body);
}
