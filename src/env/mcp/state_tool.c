/* Checks the named state tool: see state_tool.h. */
#include "env/mcp/state_tool.h"

#include "base/log.h"
#include "base/names.h"
#include "base/text.h"
#include "env/mcp/tools.h"
#include "env/tool_list.h"

#define REFUSAL_CELLS 120

static int no_state_tool(struct str name, struct str tools, struct str refusal, struct error *err)
{
	struct names known = {.count = 0};
	struct arena texts = {0};
	struct buf typed = BUF(BUF_MAX_SMALL), why = BUF(BUF_MAX_SMALL);
	struct str tool;
	size_t cursor = 0;

	while (json_next(tools, &cursor, &tool)) {
		names_add(&known, json_text(&texts, JSON_GET(tool, "name")));
	}
	text_escape_cut(&typed, name, REFUSAL_CELLS);
	text_escape_cut(&why, refusal, REFUSAL_CELLS);
	error_set(err, FAIL_USAGE,
	          "\1state\2 tool:%s: the server does not list this tool, and refuses to call it "
	          "(%s)",
	          buf_cstr(&typed), buf_cstr(&why));
	names_suggest(err, name, known.text, known.count);
	names_release(&known);
	arena_release(&texts);
	buf_release(&typed);
	buf_release(&why);
	return -1;
}

int mcp_check_state_tool(const struct state_source *s, struct str tools,
                         struct mcp_session *session, struct mcp_reading *reading,
                         struct error *err)
{
	struct mcp_call_context call = {.is_state = false};
	struct env_reply out = {0};
	struct mcp_reply reply;

	if (!json_count(tools) || tool_is_listed(tools, s->target)) {
		return 0;
	}
	if (mcp_call_tool(session, s->target, s->arguments, &reply, err)) {
		return -1;
	}
	mcp_read_tool_reply(&reply, &call, reading, &out);
	if (out.outcome != OUTCOME_OK) {
		return no_state_tool(s->target, tools, out.error.message, err);
	}
	log_info("\1state\2 tool:%.*s: not in the server's list of tools, but it can be called",
	         STR_ARG(s->target));
	return 0;
}
