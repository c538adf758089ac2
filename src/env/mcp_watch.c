/* What an MCP environment says beside its answers while a rollout runs: the control
 * plane, changes of the list of tools. */
#include "env/mcp_inside.h"

#include "base/text.h"
#include "json/write.h"

#define WHY_MAX ((size_t)4096)

void mcp_note(struct env_mcp *e, const char *event, const char *what, const char *why,
              bool skipped)
{
	struct buf detail = BUF(BUF_MAX_SMALL);
	struct json_writer w;

	jw_init(&w, &detail);
	jw_object(&w);
	jw_key(&w, "what");
	jw_text(&w, what);
	jw_key(&w, "why");
	jw_str(&w, (struct str){why, strnlen(why, WHY_MAX)});
	if (skipped) {
		jw_key(&w, "skipped");
		jw_bool(&w, true);
	}
	jw_end(&w);
	events_push(&e->events, event, buf_view(&detail));
	buf_release(&detail);
}

/* ---- the control plane ---- */

void mcp_control_trouble(struct env_mcp *e, const char *what)
{
	if (!e->control_failed) {
		mcp_note(e, "control-plane-failed", what, buf_cstr(&e->control.why),
		         false);
	}
	e->control_failed = true;
}

static int8_t read_flag(struct str status, struct str key)
{
	bool flag;

	return json_bool(json_get(status, key), &flag) ? (int8_t)flag : (int8_t)-1;
}

static bool same_value(struct str a, struct str b)
{
	struct buf canon[2] = {BUF(BUF_MAX_MESSAGE), BUF(BUF_MAX_MESSAGE)};

	json_canon(a, NULL, JSON_EDIT_DROP, &canon[0]);
	json_canon(b, NULL, JSON_EDIT_DROP, &canon[1]);
	bool same = str_eq(buf_view(&canon[0]), buf_view(&canon[1]));
	buf_release(&canon[0]);
	buf_release(&canon[1]);
	return same;
}

/* Does the step show what the start showed, as far as both show the same things? Then
   nothing moved that could have been counted. */
static bool still_at_start(const struct env_mcp *e, struct str observation)
{
	struct str start = buf_view(&e->start), now;
	struct json_member first;
	size_t cursor = 0, shared = 0, same = 0;

	while (json_type(start) == JSON_OBJECT && json_type(observation) == JSON_OBJECT &&
	       json_next_member(start, &cursor, &first)) {
		now = json_get(observation, first.key);
		shared += now.p != NULL;
		same += now.p && same_value(first.value, now);
	}
	return shared > 0 && same == shared;
}

/* A control plane that does not count a good step speaks for another environment than the
   one that acted: then it says nothing about ours, neither "changed" nor "unchanged". A
   step that only reads, or that moves nothing, need not be counted. */
static void doubt_source(struct env_mcp *e, const struct env_reply *out, int64_t before)
{
	if (out->env_steps > before && before >= 0) {
		e->counter_moved = true;
	}
	if (out->outcome != OUTCOME_OK || e->counter_moved || e->state_lost ||
	    before < 0 || out->env_steps != before || e->reads_only ||
	    still_at_start(e, out->observation)) {
		return;
	}
	e->state_lost = true;
	mcp_note(e, "state-source-lost", "control-plane",
	         "a step succeeded and its step_count did not move", false);
}

int mcp_read_status(struct env_mcp *e, struct env_reply *out, struct error *err)
{
	struct str status;
	int64_t before = e->env_steps;

	e->facts.total_reward = (struct str){NULL, 0};
	if (control_read(&e->control, CONTROL_STATUS, &status, err)) {
		return -1;
	}
	out->control_status = status.p ? "ok" : "failed";
	if (!status.p) {
		mcp_control_trouble(e, "status");
		return 0;
	}
	if (json_i64(JSON_GET(status, "step_count"), &out->env_steps)) {
		e->env_steps = out->env_steps;
		if (e->reading.suspected != LAYER_NONE && before >= 0 &&
		    out->env_steps == before) {
			/* not a step for the environment either: the text was an error */
			mcp_confirm_suspicion(&e->reading, out);
			e->last = (struct str){NULL, 0};
		}
		doubt_source(e, out, before);
	}
	if (e->state_lost) {
		out->env_steps = -1;
		return 0;
	}
	out->terminated = read_flag(status, STR("terminated"));
	out->truncated = read_flag(status, STR("truncated"));
	struct str total = JSON_GET(status, "total_reward");
	buf_clear(&e->total_reward);
	if (json_type(total) == JSON_NUMBER) {
		buf_str(&e->total_reward, total);
	}
	e->facts.total_reward =
		e->total_reward.n ? buf_view(&e->total_reward) : (struct str){NULL, 0};
	return 0;
}

static int read_reward(struct env_mcp *e, struct env_reply *out, struct error *err)
{
	struct str body;

	if (control_read(&e->control, CONTROL_REWARD, &body, err)) {
		return -1;
	}
	struct str reward = JSON_GET(body, "reward");
	out->control_reward = json_type(reward) == JSON_NUMBER ? "ok" : "failed";
	if (json_type(reward) != JSON_NUMBER) {
		mcp_control_trouble(e, "reward");
		return 0;
	}
	buf_clear(&e->reward);
	buf_str(&e->reward, reward);
	out->reward = buf_view(&e->reward);
	return 0;
}

int mcp_read_control_plane(struct env_mcp *e, struct env_reply *out, struct error *err)
{
	if (e->control.kind == CONTROL_NONE || e->state_lost) {
		return 0;
	}
	if (mcp_read_status(e, out, err)) {
		return -1;
	}
	return e->state_lost ? 0 : read_reward(e, out, err);
}

/* ---- tools ---- */

int mcp_look_at_tools(struct env_mcp *e, struct error *err)
{
	struct buf now = BUF(BUF_MAX_MESSAGE), detail = BUF(BUF_MAX_MESSAGE);
	struct mcp_reply r;
	bool endless;

	if (!mcp_tools_changed(e->session)) {
		return 0;
	}
	int failed = mcp_list_tools(e->session, &now, &endless, &r, err);
	if (!failed && r.got != MCP_GOT_RESULT) {
		mcp_note(e, "noise", "tools/list",
		         "the list changed, and asking for it was refused", false);
	} else if (!failed && mcp_tools_differ(buf_view(&e->tools), buf_view(&now),
	                                       e->hasher, &detail)) {
		struct buf before = e->tools;

		e->tools = now;
		now = before;
		e->facts.tools = buf_view(&e->tools);
		events_push(&e->events, "tools-changed", buf_view(&detail));
	}
	buf_release(&now);
	buf_release(&detail);
	return failed;
}
