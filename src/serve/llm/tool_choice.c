/* tool_choice: see tool_choice.h. */
#include "serve/llm/tool_choice.h"

#include "json/write.h"

/* Writes a value that is valid for a simple parameter schema. */
static void put_value(struct json_writer *w, struct str schema)
{
	static const struct {
		const char *type, *value;
	} values[] = {{"integer", "0"}, {"number", "0"},  {"boolean", "false"},
	              {"array", "[]"},  {"object", "{}"}, {"null", "null"}};
	struct str first, value = STR("\"x\"");
	size_t cursor = 0;

	for (size_t i = 0; i < ARRAY_LEN(values); i++) {
		if (json_is(JSON_GET(schema, "type"), str_from(values[i].type))) {
			value = str_from(values[i].value);
		}
	}
	if (JSON_GET(schema, "const").p) {
		value = JSON_GET(schema, "const");
	} else if (json_next(JSON_GET(schema, "enum"), &cursor, &first)) {
		value = first;
	}
	jw_raw(w, value);
}

static void put_call(struct json_writer *w, struct str function)
{
	struct str schema = JSON_GET(function, "parameters"), name;
	struct str properties = JSON_GET(schema, "properties");

	jw_object(w);
	jw_key(w, "name");
	jw_raw(w, JSON_GET(function, "name"));
	jw_key(w, "arguments");
	jw_object(w);
	for (size_t cursor = 0; json_next(JSON_GET(schema, "required"), &cursor, &name);) {
		jw_key_str(w, json_inner(name));
		put_value(w, json_get(properties, json_inner(name)));
	}
	jw_end(w);
	jw_end(w);
}

/* The tool that must be called; absent: none. */
static struct str required_tool(const struct scripted_request *a)
{
	struct str name = JSON_GET(JSON_GET(a->tool_choice, "function"), "name"), tool;

	name = name.p ? name : JSON_GET(a->tool_choice, "name"); /* the Responses API's */
	if (!name.p && !json_is(a->tool_choice, STR("required"))) {
		return STR_NONE;
	}
	for (size_t cursor = 0; json_next(a->tools, &cursor, &tool);) {
		struct str function = JSON_GET(tool, "function");

		function = function.p ? function : tool;
		if (!name.p || json_same_text(JSON_GET(function, "name"), name)) {
			return function;
		}
	}
	return STR_NONE;
}

struct llm_reply llm_apply_tool_choice(const struct llm_reply *r, const struct scripted_request *a,
                                       struct arena *arena)
{
	struct llm_reply reply = *r;
	struct str function = required_tool(a);
	struct buf call = BUF(BUF_MAX_MESSAGE);
	struct json_writer w;

	if (r->message.p) {
		return reply;
	}
	if (json_is(a->tool_choice, STR("none")) && r->calls.p) {
		reply.calls = STR_NONE;
		reply.finish_reason = STR_NONE;
		reply.text = r->text.p ? r->text : STR("\"\"");
	} else if (function.p && !json_count(r->calls)) {
		jw_init(&w, &call);
		jw_array(&w);
		put_call(&w, function);
		jw_end(&w);
		reply.calls = arena_str(arena, buf_view(&call));
		reply.finish_reason = STR_NONE;
	}
	buf_release(&call);
	return reply;
}
