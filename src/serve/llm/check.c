/* Checks of requests: see check.h. */
#include "serve/llm/reply_script.h"

/* The messages so far. */
struct checking {
	struct arena *arena;
	struct scripted_request *out;
	struct str open;       /* calls of the last assistant message, raw array */
	size_t cursor;         /* position in `open` */
	struct str unanswered; /* raw id of the next one; absent: all are answered */
};

/* Functions return what is wrong, or NULL. */

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

static const char *wrong_call(struct checking *c, struct str call)
{
	struct str function = JSON_GET(call, "function"), id = JSON_GET(call, "id");

	if (json_type(id) != JSON_STRING || !json_inner(id).n)
		return "a tool call has no id";
	if (!json_is(JSON_GET(call, "type"), STR("function")))
		return "a tool call's type is not \"function\"";
	if (json_type(JSON_GET(function, "name")) != JSON_STRING)
		return "a tool call has no function.name";
	return are_json_object(c, JSON_GET(function, "arguments"))
	               ? NULL
	               : "invalid tool call arguments: not the text of a JSON object";
}

static const char *wrong_assistant(struct checking *c, struct str message)
{
	struct str calls = JSON_GET(message, "tool_calls"), call;
	const char *wrong = NULL;

	c->out->turn++;
	if (!calls.p) {
		return json_is_null(JSON_GET(message, "content"))
		               ? "an assistant message has neither content nor tool_calls"
		               : NULL;
	}
	if (json_type(calls) != JSON_ARRAY || !json_count(calls))
		return "tool_calls is not an array of at least one call";
	for (size_t cursor = 0; !wrong && json_next(calls, &cursor, &call);)
		wrong = wrong_call(c, call);
	c->open = calls;
	c->cursor = 0;
	expect_next(c);
	return wrong;
}

static const char *wrong_result(struct checking *c, struct str message)
{
	if (!c->unanswered.p) {
		return "a message of role tool must be a response to a preceding message with "
		       "tool_calls";
	}
	if (!str_eq(JSON_GET(message, "tool_call_id"), c->unanswered)) {
		return "it is not the result of the next open call (results must be in the order "
		       "of the calls)";
	}
	expect_next(c);
	return NULL;
}

static const char *wrong_message(struct checking *c, struct str message)
{
	struct str role = JSON_GET(message, "role"), content = JSON_GET(message, "content");
	enum json_type type = json_type(content);
	bool assistant = json_is(role, STR("assistant"));

	if (json_type(message) != JSON_OBJECT || json_type(role) != JSON_STRING)
		return "it has no role";
	if (type != JSON_STRING && type != JSON_ARRAY && !(assistant && json_is_null(content)))
		return "content is neither a string nor an array of parts";
	if (json_is(role, STR("tool")))
		return wrong_result(c, message);
	if (c->unanswered.p) {
		return "an assistant message with tool_calls must be followed by a message of role "
		       "tool for each of them";
	}
	if (assistant)
		return wrong_assistant(c, message);
	return json_is(role, STR("system")) || json_is(role, STR("developer")) ||
	                       json_is(role, STR("user"))
	               ? NULL
	               : "unknown role";
}

static bool check_messages(struct checking *c, struct str messages, struct buf *why)
{
	struct str message = STR_NONE;
	const char *wrong = NULL;
	size_t at = 0;

	if (json_type(messages) != JSON_ARRAY || !json_count(messages)) {
		buf_text(why, "messages is not an array of at least one message");
		return false;
	}
	for (size_t cursor = 0; !wrong && json_next(messages, &cursor, &message); at++)
		wrong = wrong_message(c, message);
	if (!wrong && c->unanswered.p)
		wrong = "its tool calls have no result";
	if (wrong)
		buf_printf(why, "messages[%zu]: %s", at - 1, wrong);
	else
		c->out->last = json_text(c->arena, JSON_GET(message, "content"));
	return !wrong;
}

static const char *wrong_tools(struct str body)
{
	struct str tools = JSON_GET(body, "tools"), tool;

	if (!tools.p) {
		return JSON_GET(body, "tool_choice").p
		               ? "tool_choice is only allowed when tools are given"
		               : NULL;
	}
	if (json_type(tools) != JSON_ARRAY || !json_count(tools))
		return "tools is not an array of at least one tool";
	for (size_t cursor = 0; json_next(tools, &cursor, &tool);) {
		struct str function = JSON_GET(tool, "function");

		if (!json_is(JSON_GET(tool, "type"), STR("function")) ||
		    json_type(JSON_GET(function, "name")) != JSON_STRING ||
		    json_type(JSON_GET(function, "parameters")) != JSON_OBJECT) {
			return "a tool is not "
			       "{\"type\":\"function\",\"function\":{\"name\",\"parameters\"}}";
		}
	}
	return NULL;
}

static const char *wrong_request(struct arena *arena, struct str body, struct scripted_request *out)
{
	struct str n = JSON_GET(body, "n"), options = JSON_GET(body, "stream_options");
	int64_t choices;

	if (json_type(body) != JSON_OBJECT || json_type(JSON_GET(body, "model")) != JSON_STRING)
		return "you must provide a model parameter";
	out->model = json_text(arena, JSON_GET(body, "model"));
	out->seed.given = json_i64(JSON_GET(body, "seed"), &out->seed.value);
	if (!json_is_null(n) && (!json_i64(n, &choices) || choices != 1))
		return "n is not 1: a script has one reply to a request";
	json_bool(JSON_GET(body, "stream"), &out->stream);
	json_bool(JSON_GET(options, "include_usage"), &out->include_usage);
	if (!out->stream && !json_is_null(options))
		return "stream_options is only allowed when stream is true";
	return wrong_tools(body);
}

bool llm_check(struct str body, struct arena *arena, struct scripted_request *out, struct buf *why)
{
	struct checking c = {.arena = arena, .out = out};
	struct json_fault fault;

	*out = (struct scripted_request){.stream = false};
	if (json_validate(body, &fault) != 0) {
		buf_printf(why, "the body is not JSON: %s", fault.why);
		return false;
	}
	const char *wrong = wrong_request(arena, body, out);
	if (wrong)
		buf_text(why, wrong);
	return !wrong && check_messages(&c, JSON_GET(body, "messages"), why);
}
