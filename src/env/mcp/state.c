/* The state of an MCP server: see mcp_internal.h. */
#include "env/mcp/mcp_internal.h"

#include "base/log.h"
#include "base/names.h"
#include "base/text.h"

#define REFUSAL_CELLS 120

/* Stores a text: as JSON if it is valid JSON, else as a string. */
static void store_text(struct state_source *s, struct str string)
{

	buf_clear(&s->scratch);
	if (json_decode(string, &s->scratch) && json_is_valid(buf_view(&s->scratch)))
		buf_str(&s->value, buf_view(&s->scratch));
	else
		buf_str(&s->value, string);
}

static void take_resource(struct state_source *s, const struct mcp_reply *reply)
{
	struct str contents = JSON_GET(reply->message.result, "contents"), first = STR_NONE;
	size_t cursor = 0;

	if (reply->got != MCP_GOT_RESULT || json_type(contents) != JSON_ARRAY) {
		buf_text(&s->why, "resources/read was refused: ");
		buf_str(&s->why, reply->got == MCP_GOT_ERROR ? reply->message.error : reply->text);
		return;
	}
	json_next(contents, &cursor, &first);
	if (json_count(contents) == 1 && json_type(JSON_GET(first, "text")) == JSON_STRING)
		store_text(s, JSON_GET(first, "text"));
	else
		buf_str(&s->value, contents);
}

static void take_tool(struct state_source *s, const struct mcp_reply *reply,
                      struct reply_reading *reading)
{
	struct mcp_call_context call = {.is_state = true};
	struct env_reply out = {0};

	mcp_read_tool_reply(reply, &call, reading, &out);
	if (out.outcome == OUTCOME_OK) {
		AUTO_ARENA whole = {.last = NULL};

		buf_str(&s->value, env_reply_whole(out.observation, out.structured, &whole));
	} else {
		buf_printf(&s->why, "tool %.*s: ", STR_ARG(s->target));
		buf_str(&s->why, out.error.message);
	}
}

struct str mcp_take_state(struct state_source *s, const struct mcp_reply *reply,
                          struct reply_reading *reading)
{
	buf_clear(&s->value);
	buf_clear(&s->why);
	if (s->kind == STATE_RESOURCE)
		take_resource(s, reply);
	else
		take_tool(s, reply, reading);
	return buf_given(&s->value);
}

static int read_named(struct state_source *s, struct mcp_session *session,
                      struct reply_reading *reading, struct error *err)
{
	struct mcp_reply reply;
	int failed = s->kind == STATE_RESOURCE
	                     ? mcp_read_resource(session, s->target, &reply, err)
	                     : mcp_call_tool(session, s->target, s->arguments, &reply, err);

	if (!failed)
		(void)mcp_take_state(s, &reply, reading);
	return failed;
}

static int read_control(struct state_source *s, struct control_plane *control, struct error *err)
{
	struct str state;

	if (control_read(control, CONTROL_STATE, &state, err))
		return -1;
	buf_str(&s->value, state);
	if (!state.p)
		buf_str(&s->why, buf_view(&control->why));
	return 0;
}

int mcp_read_state(struct state_source *s, struct mcp_session *session,
                   struct control_plane *control, struct reply_reading *reading, struct str last,
                   struct str *out, struct error *err)
{
	int failed = 0;

	*out = STR_NONE;
	buf_clear(&s->value);
	buf_clear(&s->why);
	switch (s->kind) {
	case STATE_CONTROL_PLANE:
		failed = read_control(s, control, err);
		break;
	case STATE_RESOURCE:
	case STATE_TOOL:
		failed = read_named(s, session, reading, err);
		break;
	case STATE_OBSERVATION:
		*out = state_source_observed(s, last);
		return 0;
	default: /* none, or one of another protocol */
		break;
	}
	if (!failed && s->value.n)
		*out = buf_view(&s->value);
	return failed;
}

/* ---- is the named state tool one of the server's? ---- */

static int no_state_tool(struct str name, struct str tools, struct str refusal, struct error *err)
{
	AUTO_NAMES known = {.count = 0};
	AUTO_ARENA texts = {0};
	AUTO_BUF typed = BUF(BUF_MAX_SMALL), why = BUF(BUF_MAX_SMALL);
	struct str tool;
	size_t cursor = 0;

	while (json_next(tools, &cursor, &tool))
		names_add(&known, json_text(&texts, JSON_GET(tool, "name")));
	text_escape_cut(&typed, name, REFUSAL_CELLS);
	text_escape_cut(&why, refusal, REFUSAL_CELLS);
	error_set(err, FAIL_USAGE,
	          "\1state\2 tool:%s: the server does not list this tool, and refuses to call it "
	          "(%s)",
	          buf_cstr(&typed), buf_cstr(&why));
	return names_suggest(err, name, known.text, known.count);
}

/* The first argument that the tool requires and the user did not give: a string, absent if there is none. */
static struct str missing_argument(const struct state_source *s, struct str tool)
{
	struct str required = JSON_GET(tool_schema(tool), "required"), key;

	for (size_t cursor = 0; json_next(required, &cursor, &key);)
		if (!json_get(s->arguments, json_inner(key)).p)
			return json_inner(key);
	return STR_NONE;
}

static int no_argument(const struct state_source *s, struct str key, struct str refusal,
                       struct error *err)
{
	AUTO_BUF name = BUF(BUF_MAX_SMALL), why = BUF(BUF_MAX_SMALL);

	text_escape_cut(&name, key, REFUSAL_CELLS);
	text_escape_cut(&why, refusal, REFUSAL_CELLS);
	return error_set(err, FAIL_USAGE,
	                 "\1state\2 tool:%.*s: the tool needs the argument '%s': write "
	                 "'tool:%.*s:{\"%s\":..}' (%s)",
	                 STR_ARG(s->target), buf_cstr(&name), STR_ARG(s->target), buf_cstr(&name),
	                 buf_cstr(&why));
}

int mcp_check_state_tool(const struct state_source *s, struct str tools,
                         struct mcp_session *session, struct reply_reading *reading,
                         struct error *err)
{
	struct mcp_call_context call = {.is_state = false};
	struct env_reply out = {0};
	struct mcp_reply reply;
	struct str tool = tool_find(tools, s->target), missing = missing_argument(s, tool);
	bool listed = tool.p != NULL;
	int failed = 0;

	if (json_count(tools) && (!listed || missing.p)) {
		failed = mcp_call_tool(session, s->target, s->arguments, &reply, err);
		if (!failed)
			mcp_read_tool_reply(&reply, &call, reading, &out);
		if (!failed && out.outcome != OUTCOME_OK)
			failed = listed ? no_argument(s, missing, out.error.message, err)
			                : no_state_tool(s->target, tools, out.error.message, err);
		else if (!failed && !listed)
			log_info(
				"\1state\2 tool:%.*s: not in the server's list of tools, but it can be called",
				STR_ARG(s->target));
	}
	return failed;
}
