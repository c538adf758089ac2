/* Checks of an MCP environment besides its replies: the control plane, and changes of the tool
   list. */
#include "env/mcp/mcp_internal.h"

#include "env/reading.h"
#include "json/canon.h"
#include "json/index.h"

void mcp_note(struct env_mcp *e, enum event_kind event, const char *what, const char *why,
              bool skipped)
{
	reading_note(&e->events, event, what, str_from(why), skipped);
}

/* ---- the control plane ---- */

void mcp_control_trouble(struct env_mcp *e, const char *what)
{
	if (!e->control_failed) {
		mcp_note(e, EVENT_CONTROL_PLANE_FAILED, what, buf_cstr(&e->control.why), false);
	}
	e->control_failed = true;
}

static int8_t read_flag(struct str status, struct str key)
{
	bool flag;

	return json_bool(json_get(status, key), &flag) ? (int8_t)flag : (int8_t)-1;
}

/* Do members that both states have differ? */
static bool differs(struct str before, struct str now)
{
	struct arena names = {0};
	struct json_index index;
	struct json_member first;
	bool differ = false;

	if (json_type(before) != JSON_OBJECT || json_type(now) != JSON_OBJECT) {
		return false;
	}
	json_index_begin(&index, now);
	for (size_t cursor = 0; !differ && json_next_member(before, &cursor, &first);) {
		struct str value = json_index_find(&index, json_key_text(&names, first.key));

		differ = value.p && !json_equal(first.value, value);
	}
	json_index_release(&index);
	arena_release(&names);
	return differ;
}

static void mark_source_lost(struct env_mcp *e)
{
	e->doubted = false;
	e->state_lost = true;
	mcp_note(e, EVENT_STATE_SOURCE_LOST, state_kind_name(STATE_CONTROL_PLANE),
	         "a step's reply shows a change, but step_count and the state did not change",
	         false);
}

/* A step shows a change that the control plane does not count: the control plane may belong to
   another environment than the one that acted; its state will show that. Read-only tools need
   not be counted, nor steps that change nothing. */
static void suspect_source(struct env_mcp *e, const struct env_reply *out, int64_t before)
{
	if (e->state_lost && out->env_steps > before) {
		e->state_lost = false;
		mcp_note(e, EVENT_STATE_SOURCE_FOUND, state_kind_name(STATE_CONTROL_PLANE),
		         "its step_count changes again", false);
	}
	e->doubted = out->outcome == OUTCOME_OK && !e->state_lost && before >= 0 &&
	             out->env_steps == before && !e->reads_only &&
	             differs(buf_view(&e->control_state), out->observation);
	if (e->doubted && e->source.kind != STATE_CONTROL_PLANE) {
		mark_source_lost(e); /* its state is not read */
	}
}

void mcp_store_state(struct env_mcp *e, struct str state)
{
	if (e->doubted && state.p && !differs(buf_view(&e->control_state), state)) {
		mark_source_lost(e);
	}
	e->doubted = false;
	if (state.p) {
		buf_clear(&e->control_state);
		buf_str(&e->control_state, state);
	}
}

void mcp_settle_suspicion(struct env_mcp *e, int counted, struct env_reply *out)
{
	if (out->outcome != OUTCOME_OK) {
		return;
	}
	mcp_settle_suspected(&e->reading, counted, out);
	if (out->outcome != OUTCOME_OK) {
		e->last = STR_NONE;
	}
}

int mcp_read_status(struct env_mcp *e, struct env_reply *out, struct error *err)
{
	struct str status;
	int64_t before = e->env_steps;

	e->facts.total_reward = STR_NONE;
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
		mcp_settle_suspicion(e, before >= 0 ? out->env_steps > before : -1, out);
		suspect_source(e, out, before);
	}
	if (e->state_lost) {
		return 0; /* its rewards and endings belong to other steps */
	}
	out->terminated = read_flag(status, STR("terminated"));
	out->truncated = read_flag(status, STR("truncated"));
	struct str total = JSON_GET(status, "total_reward");
	buf_clear(&e->total_reward);
	if (json_type(total) == JSON_NUMBER) {
		buf_str(&e->total_reward, total);
	}
	e->facts.total_reward = e->total_reward.n ? buf_view(&e->total_reward) : STR_NONE;
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
	if (e->control.kind == CONTROL_NONE) {
		return 0;
	}
	if (mcp_read_status(e, out, err)) {
		return -1;
	}
	return e->state_lost ? 0 : read_reward(e, out, err);
}

/* ---- tools ---- */

void mcp_note_endless(struct env_mcp *e, bool endless)
{
	if (endless) {
		mcp_note(e, EVENT_NOISE, "tools/list",
		         "pagination does not end: the cursor repeats, or the pages are too large "
		         "or too slow",
		         false);
	}
}

int mcp_check_tools(struct env_mcp *e, struct error *err)
{
	struct buf now = BUF(BUF_MAX_MESSAGE), detail = BUF(BUF_MAX_MESSAGE);
	struct mcp_reply r;
	bool endless;

	if (!mcp_tools_changed(e->session)) {
		return 0;
	}
	int failed = mcp_list_tools(e->session, &now, &endless, &r, err);
	if (!failed && r.got != MCP_GOT_RESULT) {
		mcp_note(e, EVENT_NOISE, "tools/list",
		         "the tool list changed, but reading the new one was refused", false);
	} else if (!failed &&
	           tools_differ(buf_view(&e->tools), buf_view(&now), e->hasher, &detail)) {
		struct buf before = e->tools;

		e->tools = now;
		now = before;
		e->facts.tools = buf_view(&e->tools);
		events_push(&e->events, EVENT_TOOLS_CHANGED, buf_view(&detail));
	}
	mcp_note_endless(e, !failed && endless);
	buf_release(&now);
	buf_release(&detail);
	return failed;
}
