/* State sources: see state_source.h. */
#include "env/state_source.h"

#include "base/text.h"
#include "json/write.h"

static const char *const names[] = {
	[STATE_AUTO] = "auto",       [STATE_CONTROL_PLANE] = "control-plane",
	[STATE_OPENENV] = "openenv", [STATE_RESOURCE] = "resource",
	[STATE_TOOL] = "tool",       [STATE_OBSERVATION] = "observation",
	[STATE_NONE] = "none",
};

const char *state_kind_name(enum state_kind k)
{
	return names[k];
}

static struct str until(struct str s, char c)
{
	const char *at = s.n ? memchr(s.p, c, s.n) : NULL;

	return at ? (struct str){s.p, (size_t)(at - s.p)} : s;
}

static int unknown_kind(struct str kind, struct error *err)
{
	const char *near = text_nearest(kind, names, ARRAY_LEN(names));

	return error_set(err, FAIL_USAGE,
	                 "--state: unknown source '%.*s'%s%s%s (auto, control-plane, "
	                 "openenv, resource:URI, "
	                 "tool:NAME[:JSON], observation[:POINTER], none)",
	                 STR_ARG(kind), near ? "; did you mean '" : "", near ? near : "",
	                 near ? "'?" : "");
}

static int check_target(struct state_source *s, struct error *err)
{
	struct json_fault fault;

	if ((s->kind == STATE_RESOURCE || s->kind == STATE_TOOL) && !s->target.n) {
		return error_set(
			err, FAIL_USAGE, "--state %s wants a target: %s", names[s->kind],
			s->kind == STATE_TOOL ? "tool:NAME[:JSON]" : "resource:URI");
	}
	if (s->kind == STATE_OBSERVATION && s->target.n && s->target.p[0] != '/') {
		return error_set(err, FAIL_USAGE,
		                 "--state observation wants a JSON Pointer: /a/b");
	}
	bool bare = s->kind == STATE_AUTO || s->kind == STATE_NONE ||
	            s->kind == STATE_CONTROL_PLANE || s->kind == STATE_OPENENV;
	if (bare && s->target.p) {
		return error_set(err, FAIL_USAGE, "--state %s takes no target",
		                 names[s->kind]);
	}
	if (s->kind == STATE_TOOL && json_validate(s->arguments, &fault)) {
		return error_set(
			err, FAIL_USAGE,
			"--state tool: the arguments are not JSON: %s at byte %zu",
			fault.why, fault.at);
	}
	if (s->kind == STATE_TOOL && json_type(s->arguments) != JSON_OBJECT) {
		return error_set(err, FAIL_USAGE,
		                 "--state tool: the arguments are no JSON object");
	}
	return 0;
}

int state_source_parse(struct str spec, struct state_source *out, struct error *err)
{
	struct str kind = until(spec, ':');

	*out = (struct state_source){.value = BUF(BUF_MAX_MESSAGE),
	                             .scratch = BUF(BUF_MAX_MESSAGE),
	                             .why = BUF(BUF_MAX_MESSAGE)};
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		if (!str_is(kind, names[i])) {
			continue;
		}
		out->kind = (enum state_kind)i;
		out->target = kind.n < spec.n ? str_skip(spec, kind.n + 1)
		                              : (struct str){NULL, 0};
		if (out->kind == STATE_TOOL) {
			struct str name = until(out->target, ':');

			out->arguments = str_skip(out->target, name.n + 1);
			out->arguments = out->arguments.n ? out->arguments : STR("{}");
			out->target = name;
		}
		return check_target(out, err);
	}
	return unknown_kind(kind, err);
}

void state_source_release(struct state_source *s)
{
	buf_release(&s->value);
	buf_release(&s->scratch);
	buf_release(&s->why);
}

/* A text is its JSON if it is JSON, else a string. */
static void keep_text(struct state_source *s, struct str string)
{
	struct json_fault fault;

	buf_clear(&s->scratch);
	if (json_decode(string, &s->scratch) &&
	    json_validate(buf_view(&s->scratch), &fault) == 0) {
		buf_str(&s->value, buf_view(&s->scratch));
	} else {
		buf_str(&s->value, string);
	}
}

static int read_resource(struct state_source *s, struct mcp_session *session,
                         struct error *err)
{
	struct buf params = BUF(BUF_MAX_SMALL);
	struct mcp_reply reply;
	struct json_writer w;
	struct str first = {NULL, 0};
	size_t cursor = 0;

	jw_init(&w, &params);
	jw_object(&w);
	jw_key(&w, "uri");
	jw_str(&w, s->target);
	jw_end(&w);
	int failed =
		mcp_request(session, "resources/read", buf_view(&params), &reply, err);
	buf_release(&params);
	if (failed) {
		return -1;
	}
	struct str contents = JSON_GET(reply.message.result, "contents");
	if (reply.got != MCP_GOT_RESULT || json_type(contents) != JSON_ARRAY) {
		buf_text(&s->why, "resources/read was refused: ");
		buf_str(&s->why,
		        reply.got == MCP_GOT_ERROR ? reply.message.error : reply.text);
		return 0;
	}
	json_next(contents, &cursor, &first);
	if (json_count(contents) == 1 &&
	    json_type(JSON_GET(first, "text")) == JSON_STRING) {
		keep_text(s, JSON_GET(first, "text"));
	} else {
		buf_str(&s->value, contents);
	}
	return 0;
}

static int read_tool(struct state_source *s, struct mcp_session *session,
                     struct mcp_reading *reading, struct error *err)
{
	struct mcp_reply reply;
	struct env_reply out = {0};

	if (mcp_call_tool(session, s->target, s->arguments, &reply, err)) {
		return -1;
	}
	mcp_read_tool_reply(&reply, (struct str){NULL, 0}, reading, &out);
	if (out.outcome == OUTCOME_OK) {
		buf_str(&s->value, out.observation);
	} else {
		buf_text(&s->why, "the state tool failed: ");
		buf_str(&s->why, out.error.message);
	}
	return 0;
}

static int read_control(struct state_source *s, struct control_plane *control,
                        struct error *err)
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

int state_source_read(struct state_source *s, struct mcp_session *session,
                      struct control_plane *control, struct mcp_reading *reading,
                      struct str last, struct str *out, struct error *err)
{
	int failed = 0;

	*out = (struct str){NULL, 0};
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
		buf_clear(&s->scratch);
		buf_str(&s->value,
		        s->target.n ? json_point(last, s->target, &s->scratch) : last);
		break;
	case STATE_AUTO:
	case STATE_OPENENV:
	case STATE_NONE:
		break;
	}
	if (!failed && s->value.n) {
		*out = buf_view(&s->value);
	}
	return failed;
}
