/* What replies tell about an episode: see known.h. */
#include "env/mcp/known.h"

#include "base/text.h"
#include "env/reading.h"
#include "json/canon.h"
#include "json/index.h"

#define RAW_MAX ((size_t)4 << 20)

void mcp_known_init(struct mcp_known *k, struct event_queue *events)
{
	*k = (struct mcp_known){
		.events = events,
		.control_state = BUF(BUF_MAX_MESSAGE),
		.start = BUF(BUF_MAX_MESSAGE),
		.seen = BUF(BUF_MAX_MESSAGE),
		.total_reward = BUF(BUF_MAX_SMALL),
		.reward = BUF(BUF_MAX_SMALL),
		.env_steps = -1,
	};
	reading_init(&k->reading);
}

void mcp_known_release(struct mcp_known *k)
{
	reading_release(&k->reading);
	BUFS_RELEASE(&k->control_state, &k->start, &k->seen, &k->total_reward, &k->reward);
}

void mcp_known_forget(struct mcp_known *k)
{
	k->reading.suspected.strength = HIDDEN_ERROR_NONE;
	k->env_steps = -1;
}

void mcp_known_start(struct mcp_known *k, struct str observation)
{
	buf_set(&k->start, observation);
	buf_set(&k->seen, observation);
	k->doubted = false;
	mcp_known_state(k, observation);
}

struct hidden_error_context mcp_known_before(const struct mcp_known *k)
{
	return reading_before(&k->start, &k->seen);
}

void mcp_known_cut_raw(struct mcp_known *k, struct env_reply *out)
{
	struct str kept = text_utf8_cut(out->raw, RAW_MAX);

	if (kept.n < out->raw.n) {
		events_pack(k->events, EVENT_TRUNCATED_BYTES, "{what:'raw',kept:%i,of:%i}",
		            (int64_t)kept.n, (int64_t)out->raw.n);
	}
	out->raw = kept;
}

static void note(struct mcp_known *k, enum event_kind event, const char *what, const char *why)
{
	reading_note(k->events, event, what, str_from(why));
}

void mcp_known_trouble(struct mcp_known *k, const char *what, const char *why)
{
	if (!k->control_failed)
		note(k, EVENT_CONTROL_PLANE_FAILED, what,
		     *why ? why : "the reply does not hold it");
	k->control_failed = true;
}

static int8_t read_flag(struct str status, struct str key)
{
	bool flag;

	return json_bool(json_get(status, key), &flag) ? (int8_t)flag : (int8_t)-1;
}

/* Do members that both states have differ? */
static bool differs(struct str before, struct str now)
{
	AUTO_ARENA names = {0};
	struct json_index index;
	struct json_member first;
	bool differ = false;

	if (json_type(before) != JSON_OBJECT || json_type(now) != JSON_OBJECT)
		return false;
	json_index_begin(&index, now, &names);
	for (size_t cursor = 0; !differ && json_next_member(before, &cursor, &first);) {
		struct str value = json_index_find(&index, json_key_text(&names, first.key));

		differ = value.p && !json_equal(first.value, value);
	}
	return differ;
}

static void mark_source_lost(struct mcp_known *k)
{
	k->doubted = false;
	k->state_lost = true;
	note(k, EVENT_STATE_SOURCE_LOST, state_kind_name(STATE_CONTROL_PLANE),
	     "a step's reply shows a change, but step_count and the state did not change");
}

/* A step shows a change that the control plane does not count: the control plane may belong to
   another environment than the one that acted; its state will show that. Read-only tools need
   not be counted, nor steps that change nothing. */
static void suspect_source(struct mcp_known *k, const struct env_reply *out, int64_t before)
{
	if (k->state_lost && out->env_steps > before) {
		k->state_lost = false;
		note(k, EVENT_STATE_SOURCE_FOUND, state_kind_name(STATE_CONTROL_PLANE),
		     "its step_count changes again");
	}
	k->doubted = out->outcome == OUTCOME_OK && !k->state_lost && before >= 0 &&
	             out->env_steps == before && !k->reads_only &&
	             differs(buf_view(&k->control_state), out->observation);
	if (k->doubted && !k->state_is_control)
		mark_source_lost(k); /* its state is not read */
}

void mcp_known_state(struct mcp_known *k, struct str state)
{
	if (k->doubted && state.p && !differs(buf_view(&k->control_state), state))
		mark_source_lost(k);
	k->doubted = false;
	if (state.p)
		buf_set(&k->control_state, state);
}

/* counted: did the environment count the step (1, 0; -1: its count tells nothing)? */
static void settle(struct mcp_known *k, int counted, struct env_reply *out)
{
	if (out->outcome == OUTCOME_OK)
		mcp_settle_suspected(&k->reading, counted, out);
}

void mcp_known_status(struct mcp_known *k, struct str status, const char *why,
                      struct env_reply *out)
{
	int64_t before = k->env_steps;

	buf_clear(&k->total_reward);
	out->control_status = status.p ? "ok" : "failed";
	if (!status.p) {
		mcp_known_trouble(k, "status", why);
		return;
	}
	if (json_i64(JSON_GET(status, "step_count"), &out->env_steps)) {
		k->env_steps = out->env_steps;
		settle(k, before >= 0 ? out->env_steps > before : -1, out);
		suspect_source(k, out, before);
	}
	if (k->state_lost)
		return; /* its rewards and endings belong to other steps */
	out->terminated = read_flag(status, STR("terminated"));
	out->truncated = read_flag(status, STR("truncated"));
	struct str total = JSON_GET(status, "total_reward");
	if (json_type(total) == JSON_NUMBER)
		buf_str(&k->total_reward, total);
}

void mcp_known_reward(struct mcp_known *k, struct str body, const char *why, struct env_reply *out)
{
	struct str reward = JSON_GET(body, "reward");

	out->control_reward = json_type(reward) == JSON_NUMBER ? "ok" : "failed";
	if (json_type(reward) != JSON_NUMBER) {
		mcp_known_trouble(k, "reward", why);
		return;
	}
	buf_set(&k->reward, reward);
	out->reward = buf_view(&k->reward);
}

struct str mcp_known_total_reward(const struct mcp_known *k)
{
	return buf_given(&k->total_reward);
}

void mcp_known_conclude(struct mcp_known *k, struct env_reply *out)
{
	settle(k, -1, out);
	if (out->outcome == OUTCOME_OK)
		buf_set(&k->seen, out->observation);
}
