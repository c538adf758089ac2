/* The state of an MCP server: see state.h. */
#include "env/mcp/state.h"

#include "env/mcp/tools.h"
#include "json/write.h"

/* Stores a text: as JSON if it is valid JSON, else as a string. */
static void store_text(struct state_source *s, struct str string)
{
	struct json_fault fault;

	buf_clear(&s->scratch);
	if (json_decode(string, &s->scratch) && json_validate(buf_view(&s->scratch), &fault) == 0) {
		buf_str(&s->value, buf_view(&s->scratch));
	} else {
		buf_str(&s->value, string);
	}
}

static int read_resource(struct state_source *s, struct mcp_session *session, struct error *err)
{
	struct buf params = BUF(BUF_MAX_SMALL);
	struct mcp_reply reply;
	struct str first = STR_NONE;
	size_t cursor = 0;
	struct json_writer w = jw_begin(&params);

	jw_str(jw_key(&w, "uri"), s->target);
	jw_end(&w);
	int failed = mcp_request(session, "resources/read", buf_view(&params), &reply, err);
	buf_release(&params);
	if (failed) {
		return -1;
	}
	struct str contents = JSON_GET(reply.message.result, "contents");
	if (reply.got != MCP_GOT_RESULT || json_type(contents) != JSON_ARRAY) {
		buf_text(&s->why, "resources/read was refused: ");
		buf_str(&s->why, reply.got == MCP_GOT_ERROR ? reply.message.error : reply.text);
		return 0;
	}
	json_next(contents, &cursor, &first);
	if (json_count(contents) == 1 && json_type(JSON_GET(first, "text")) == JSON_STRING) {
		store_text(s, JSON_GET(first, "text"));
	} else {
		buf_str(&s->value, contents);
	}
	return 0;
}

static int read_tool(struct state_source *s, struct mcp_session *session,
                     struct mcp_reading *reading, struct error *err)
{
	struct mcp_reply reply;
	struct mcp_call_context call = {.is_state = true};
	struct env_reply out = {0};

	if (mcp_call_tool(session, s->target, s->arguments, &reply, err)) {
		return -1;
	}
	mcp_read_tool_reply(&reply, &call, reading, &out);
	if (out.outcome == OUTCOME_OK) {
		buf_str(&s->value, out.observation);
	} else {
		buf_printf(&s->why, "tool %.*s: ", STR_ARG(s->target));
		buf_str(&s->why, out.error.message);
	}
	return 0;
}

static int read_control(struct state_source *s, struct control_plane *control, struct error *err)
{
	struct str state;

	if (control_read(control, CONTROL_STATE, &state, err)) {
		return -1;
	}
	buf_str(&s->value, state);
	if (!state.p) {
		buf_str(&s->why, buf_view(&control->why));
	}
	return 0;
}

int mcp_read_state(struct state_source *s, struct mcp_session *session,
                   struct control_plane *control, struct mcp_reading *reading, struct str last,
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
		failed = read_resource(s, session, err);
		break;
	case STATE_TOOL:
		failed = read_tool(s, session, reading, err);
		break;
	case STATE_OBSERVATION:
		*out = state_source_observed(s, last);
		return 0;
	default: /* none, or one of another protocol */
		break;
	}
	if (!failed && s->value.n) {
		*out = buf_view(&s->value);
	}
	return failed;
}
