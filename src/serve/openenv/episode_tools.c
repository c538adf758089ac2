/* A world with several tools, like OpenEnv's MCPEnvironment: see episode.h. */
#include "serve/openenv/episode.h"

#include "json/scan.h"
#include "json/write.h"

bool episode_has_tools(const struct world *w)
{
	return json_count(w->tools) > 1;
}

static bool is_tool(const struct world *w, struct str name)
{
	struct str tool;
	size_t cursor = 0;

	while (json_next(w->tools, &cursor, &tool)) {
		if (json_is(name, json_inner(JSON_GET(tool, "name")))) {
			return true;
		}
	}
	return false;
}

static void write_result(const struct world_call *a, struct buf *out)
{
	buf_text(out, "{\"content\":[{\"type\":\"text\",\"text\":");
	json_quote(out, buf_view(&a->text));
	buf_text(out, ",\"annotations\":null,\"meta\":null}],\"structured_content\":");
	if (a->structured.n > 0) {
		buf_text(out, "{\"result\":");
		buf_str(out, buf_view(&a->structured));
		buf_text(out, "},\"meta\":{\"fastmcp\":{\"wrap_result\":true}},\"data\":");
		buf_str(out, buf_view(&a->structured));
	} else {
		buf_text(out, "null,\"meta\":null,\"data\":null");
	}
	buf_text(out, ",\"is_error\":false}");
}

bool episode_call(struct openenv_episode *e, struct str tool, struct str arguments,
                  struct buf *result, struct buf *why)
{
	struct world_call a = {.tool = tool,
	                       .arguments = arguments,
	                       .text = BUF(BUF_MAX_MESSAGE),
	                       .structured = BUF(BUF_MAX_MESSAGE)};

	e->reward = 0;
	if (is_tool(e->world, tool)) {
		e->world->call(e->instance, &a);
	} else {
		world_call_unknown_tool(&a);
	}
	if (a.is_error) {
		buf_str(why, buf_view(&a.text));
	} else {
		e->reward = a.reward;
		e->terminated = a.terminated;
		write_result(&a, result);
	}
	buf_release(&a.text);
	buf_release(&a.structured);
	return !a.is_error;
}

bool episode_lists_tools(struct str action)
{
	struct str type = JSON_GET(action, "type");

	return json_type(type) == JSON_STRING && json_is(type, STR("list_tools"));
}

static void list_tools(const struct world *w, struct buf *out)
{
	const char *between = "";
	struct str tool;
	size_t cursor = 0;

	buf_text(out, "{\"observation\":{\"metadata\":{},\"tools\":[");
	while (json_next(w->tools, &cursor, &tool)) {
		buf_printf(out, "%s{\"name\":", between);
		buf_str(out, JSON_GET(tool, "name"));
		buf_text(out, ",\"description\":");
		buf_str(out, JSON_GET(tool, "description"));
		buf_text(out, ",\"input_schema\":");
		buf_str(out, JSON_GET(tool, "inputSchema"));
		buf_char(out, '}');
		between = ",";
	}
	buf_text(out, "]},\"reward\":null,\"done\":false}");
}

/* A failed call also counts as a step. */
static void call_tool(struct openenv_episode *e, struct str tool, struct str arguments,
                      struct buf *out)
{
	struct buf result = BUF(BUF_MAX_MESSAGE), why = BUF(BUF_MAX_MESSAGE);

	e->step_count++;
	buf_text(out, "{\"observation\":{\"metadata\":{},\"tool_name\":");
	buf_str(out, tool);
	if (episode_call(e, tool, arguments, &result, &why)) {
		buf_printf(out, ",\"result\":%s,\"error\":null", buf_cstr(&result));
	} else {
		buf_printf(out, ",\"result\":null,\"error\":{\"error_type\":\"%s\",\"message\":",
		           is_tool(e->world, tool) ? "execution_error" : "tool_not_found");
		json_quote(out, buf_view(&why));
		buf_char(out, '}');
	}
	buf_printf(out, "},\"reward\":%d.0,\"done\":%s}", e->reward,
	           e->terminated ? "true" : "false");
	buf_release(&result);
	buf_release(&why);
}

void episode_tool_step(struct openenv_episode *e, struct str action, struct buf *out)
{
	if (episode_lists_tools(action)) {
		list_tools(e->world, out);
	} else {
		call_tool(e, JSON_GET(action, "tool_name"), JSON_GET(action, "arguments"), out);
	}
}
