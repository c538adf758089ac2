/* Processes one rollout line by line: see fold.h. This runs once for every line of every
   recording, so work that only failed steps need is done for failed steps only. */
#include "evidence/fold.h"

#include "base/hash.h"
#include "evidence/call.h"
#include "evidence/clocks.h"
#include "evidence/effects.h"
#include "evidence/limits.h"
#include "evidence/peer.h"
#include "evidence/sharing.h"
#include "json/write.h"

#include <inttypes.h>
#include <stdio.h>

/* ---- states ---- */

static bool may_have_state(const struct line *l)
{
	return l->type == LINE_STEP || l->type == LINE_END;
}

/* The state at a line; for a recording that holds only its hash, that hash. */
static struct str state_of(const struct line *l)
{
	return line_has(l, KEY_STATE)        ? l->value[KEY_STATE]
	       : line_has(l, KEY_STATE_HASH) ? l->value[KEY_STATE_HASH]
	                                     : STR_NONE;
}

static uint64_t state_hash(const struct line *l, struct str state)
{
	struct str hash = line_state_hash(l);

	return state.n ? fingerprint(hash.n ? hash : state) | 1 : 0;
}

static void take_first_state(struct open_rollout *o)
{
	struct rollout_facts *f = &o->facts;

	if (!o->started && o->end_state) {
		o->started = true;
		f->continued = sharing_begin(f->sharing, o->end_state, !f->concurrent);
	}
}

/* Adds the state at the line to the series. l: NULL, or a line without one: unknown. */
static void take_state(struct open_rollout *o, const struct line *l)
{
	bool has = l && may_have_state(l);
	struct str state = has ? state_of(l) : STR_NONE;

	if (o->pending)
		series_trial(&o->series, state);
	else if (l && l->type == LINE_RESET)
		series_start(&o->series, STR_NONE);
	else if (has)
		series_control(&o->series, state, sharing_others_called(o->facts.sharing));
	if (has && o->reread.n) {
		series_control(&o->series, buf_view(&o->reread), o->reread_busy);
		buf_clear(&o->reread);
	}
	if (has) {
		o->end_state = state_hash(l, state);
		take_first_state(o);
	}
}

/* ---- traces of seeded episodes ---- */

/* Observations are traced if there are no states. */
static bool traces(const struct open_rollout *o, bool states)
{
	return o->facts.has_seed && o->trace.calls <= TRACE_CALLS &&
	       states == (o->facts.source == SOURCE_NAMED);
}

static void trace_state(struct open_rollout *o, const struct line *l)
{
	if (traces(o, true) && line_has(l, KEY_STATE)) {
		trace_add(&o->trace, &o->series, &o->explaining, l->value[KEY_STATE],
		          &o->facts.work->text);
	}
}

static void trace_observation(struct open_rollout *o, const struct line *l)
{
	if (traces(o, false) && l->outcome == OUTCOME_OK && line_has(l, KEY_OBSERVATION)) {
		trace_add(&o->trace, &o->series, &o->explaining, l->value[KEY_OBSERVATION],
		          &o->facts.work->text);
	}
}

static void trace_start(struct open_rollout *o, const struct line *l)
{
	if (traces(o, true) && l->outcome == OUTCOME_OK && line_has(l, KEY_OBSERVATION))
		trace_add_start(&o->trace, l->value[KEY_OBSERVATION], &o->facts.work->text);
}

/* Did the user choose a source of states? */
static bool is_named(const struct rollout_facts *f)
{
	return f->source == SOURCE_NAMED && f->state_is_named;
}

/* The effect as far as it is known now. */
static enum effect effect_so_far(struct open_rollout *o)
{
	const struct call_trial *t = &o->series.trials[o->series.trial_count - 1];

	if (!t->known)
		return EFFECT_UNKNOWN;
	if (explain_newest(&o->series, &o->explaining)) {
		o->moved = true;
		return EFFECT_CHANGED;
	}
	return o->moved || o->series.names_calls || is_named(&o->facts) ? EFFECT_UNCHANGED
	                                                                : EFFECT_UNKNOWN;
}

const struct completed_step *fold_complete_step(struct open_rollout *o, const struct line *l)
{
	struct completed_step *p;

	if (l && !may_have_state(l) && l->type != LINE_RESET && l->type != LINE_HEADER)
		return NULL;
	if (l)
		trace_state(o, l);
	take_state(o, l);
	if (!o->pending)
		return NULL;
	o->pending = false;
	p = &o->steps[o->facts.steps - 1];
	p->trial = (int64_t)o->series.trial_count - 1;
	p->effect = o->effects ? effects_at(o->effects, p->position) : effect_so_far(o);
	return p;
}

/* Updates `previous` for later steps, and the sum over ok steps. */
static void take_reward(struct open_rollout *o, const struct line *l, struct derived_line *m)
{
	struct str reward = l->value[KEY_REWARD];
	bool failed = l->outcome != OUTCOME_OK;

	o->facts.previous = o->so_far;
	o->so_far.failed = failed;
	o->so_far.status_seen = o->so_far.status_seen || l->terminated >= 0;
	m->reward_seen = str_eq(reward, STR("0.0")) || json_double(reward, &m->reward);
	if (!m->reward_seen)
		return;
	o->so_far.reward_seen = true;
	o->so_far.reward = m->reward;
	if (failed)
		return;
	o->facts.reward_known = true;
	o->facts.reward_sum += m->reward;
}

/* The counters include expected failures; only the rules skip them. */
static void count_failure(struct open_rollout *o, const struct derived_line *m)
{
	struct rollout_facts *f = &o->facts;

	o->failed++;
	bool counts = m->failed && !m->outside_episode;
	f->episode.failed += counts;
	enum error_class class = line_error_class(m->line);
	f->episode.invalid += counts && class == CLASS_ARGUMENTS;
	f->episode.refused += counts && m->line->outcome == OUTCOME_TOOL_ERROR &&
	                      (class == CLASS_ARGUMENTS || class == CLASS_TOOL ||
	                       class == CLASS_ENVIRONMENT || class == CLASS_OTHER);
	if (++f->failed_run > o->longest_failed_run)
		o->longest_failed_run = f->failed_run;
}

static bool is_expected(struct open_rollout *o, const struct line *l)
{
	struct str value = peer_error_value(l);

	if (o->hints->error_count == 0)
		return false;
	if (json_type(value) != JSON_STRING || !json_has_escape(value)) {
		return hints_expect_error(o->hints, l->turn,
		                          json_type(value) == JSON_STRING ? json_inner(value)
		                                                          : value,
		                          o->facts.expected_came);
	}
	buf_clear(&o->facts.work->text);
	json_decode(value, &o->facts.work->text);
	return hints_expect_error(o->hints, l->turn, buf_view(&o->facts.work->text),
	                          o->facts.expected_came);
}

/* The error of the first of consecutive failures. */
static const char *error_of(struct open_rollout *o, const struct line *l,
                            const struct completed_step *before)
{
	char text[ERROR_TEXT];

	if (o->facts.failed_run > 1 && before && !before->expected)
		return before->error;
	peer_error(o->facts.work, l, text);
	return arena_str(&o->arena, str_from(text)).p;
}

static struct completed_step *new_step(struct open_rollout *o)
{
	size_t count = (size_t)o->facts.steps;

	o->steps = mem_grow(o->steps, count - 1, sizeof(*o->steps));
	o->facts.completed = o->steps;
	return &o->steps[count - 1];
}

static void add_step(struct open_rollout *o, const struct line *l, const struct derived_line *m)
{
	struct completed_step *now = new_step(o);
	int64_t sent, answered;

	*now = (struct completed_step){.failed = m->failed,
	                               .expected = m->expected,
	                               .idle = m->idle,
	                               .outside_episode = m->outside_episode,
	                               .turn = l->turn,
	                               .step = l->step,
	                               .position = o->facts.positions,
	                               .trial = -1,
	                               .tool = m->tool,
	                               .call = m->call,
	                               .error = ""};
	if (m->failed || m->expected) {
		now->by_content =
			m->failed && json_is(JSON_GET(l->value[KEY_ERROR], "layer"), STR("body"));
		now->error = error_of(o, l, o->facts.steps > 1 ? now - 1 : NULL);
	}
	o->pending = true;
	clocks_of_call(m->meta[META_AT], m->meta[META_LATENCY], &sent, &answered);
	series_call(&o->series, m->arguments, answered);
}

/* Has the reply a value that the state has under the same key, and not for bookkeeping? */
static bool shows_state(const struct open_rollout *o, struct str reply, struct str state)
{
	struct json_member m;
	bool objects = json_type(reply) == JSON_OBJECT && json_type(state) == JSON_OBJECT;

	for (size_t at = 0; objects && json_next_member(reply, &at, &m);) {
		bool fact = json_type(m.value) == JSON_NUMBER || m.value.n > 2; /* not empty */

		if (fact && str_eq(m.value, json_get(state, m.key)) &&
		    !explain_is_aside(&o->series, &o->explaining, m.key)) {
			return true;
		}
	}
	return false;
}

/* Of the steps that act. */
static void add_reply(struct open_rollout *o, const struct line *l, const struct derived_line *m)
{
	struct replies *r = &o->facts.replies;
	uint64_t reply;

	if (l->outcome != OUTCOME_OK || m->idle || m->outside_episode)
		return;
	reply = fingerprint(l->value[KEY_OBSERVATION]);
	r->show_state = r->count ? r->show_state
	                         : shows_state(o, l->value[KEY_OBSERVATION], l->value[KEY_STATE]);
	bool other = r->count && reply != r->first;
	uint64_t wordless = r->vary || (r->count && !other)
	                            ? r->wordless
	                            : series_wordless(&o->series, l->value[KEY_OBSERVATION]);
	r->vary = r->vary || (other && wordless != r->wordless);
	r->wordless = r->count ? r->wordless : wordless;
	r->first = r->count ? r->first : reply;
	r->first_call = r->count ? r->first_call : m->call;
	r->differ = r->differ || reply != r->first;
	r->unlike = r->unlike || m->call != r->first_call;
	r->count++;
}

static void add_count(struct env_count *c, int64_t env_steps)
{
	int64_t before = c->reported ? c->now : 0;

	c->first = c->reported == 0 ? env_steps : c->first;
	c->moved = c->moved || env_steps != c->first;
	c->by_one += env_steps == before + 1;
	c->by_more += c->reported > 0 && env_steps > before + 1;
	c->reported++;
	c->now = env_steps;
}

static const struct str meta_keys[META_MEMBERS] = {
	[META_AT] = STR_INIT("at"),
	[META_LATENCY] = STR_INIT("latency_ms"),
	[META_SESSION] = STR_INIT("session"),
	[META_ENV_SESSION] = STR_INIT("env_session"),
	[META_REPLY_SESSION] = STR_INIT("reply_session"),
};

/* Sets the members of `m` for a call that was sent. */
static void derive_step(struct open_rollout *o, const struct line *l, struct derived_line *m)
{
	struct rollout_facts *f = &o->facts;
	bool ok = l->outcome == OUTCOME_OK;

	m->expected = !ok && is_expected(o, l);
	m->failed = !ok && !m->expected;
	/* a call interrupted by the user failed, but outside the episode */
	if (!ok && json_is(JSON_GET(l->value[KEY_ERROR], "code"), STR("interrupted")))
		m->outside_episode = true;
	m->idle = (m->tool >= 0 && f->tools[m->tool].read_only) ||
	          (f->state_call && call_hash(f->work, m) == f->state_call) ||
	          ((o->hints->noop || o->hints->read_only) &&
	           hints_idle(o->hints, m->tool_name, m->arguments));
	m->call = fingerprint(m->tool_name) ^ 3 * fingerprint(m->arguments);
	m->env_steps = line_count(l->value[KEY_ENV_STEPS]);
	json_pick(l->value[KEY_META], meta_keys, META_MEMBERS, m->meta);
}

/* Counts one call that was sent. */
static unsigned take_step(struct open_rollout *o, const struct line *l, struct derived_line *m)
{
	struct rollout_facts *f = &o->facts;
	unsigned kinds = f->steps++ == 0 ? KIND_FIRST : 0;
	bool ok = l->outcome == OUTCOME_OK;

	derive_step(o, l, m);
	f->episode.steps += !m->outside_episode;
	f->episode.idle += m->idle && !m->outside_episode;
	if (ok)
		f->failed_run = 0;
	else
		count_failure(o, m);
	fold_failure_step(o, l, m);
	take_reward(o, l, m);
	add_step(o, l, m);
	add_reply(o, l, m);
	if (m->env_steps >= 0 && !m->outside_episode)
		add_count(&f->env_count, m->env_steps);
	if (!line_has(l, KEY_STATE))
		kinds |= KIND_NO_STATE;
	if (!line_has(l, KEY_REWARD) || l->terminated < 0)
		kinds |= KIND_UNREPORTED;
	if (f->has_seed && o->trace.calls <= TRACE_CALLS) {
		trace_call(&o->trace, m->call);
		trace_observation(o, l);
	}
	if (m->expected)
		return 0;
	return kinds | (m->failed ? KIND_FAILED : KIND_OK);
}

static const struct str llm_keys[LLM_MEMBERS] = {
	[LLM_ERROR] = STR_INIT("error"),
	[LLM_LOGPROBS] = STR_INIT("logprobs"),
	[LLM_PROMPT_TOKEN_IDS] = STR_INIT("prompt_token_ids"),
	[LLM_REASONING] = STR_INIT("reasoning"),
	[LLM_TOKEN_IDS] = STR_INIT("token_ids"),
	[LLM_USAGE] = STR_INIT("usage"),
};

static unsigned take_turn(struct open_rollout *o, const struct line *l, struct derived_line *m)
{
	struct rollout_facts *f = &o->facts;
	unsigned kinds = o->terminal ? KIND_AFTER_END : 0;

	m->outside_episode = o->terminal;
	f->positions++;
	if (l->turn < 0 || l->turn != f->last_turn)
		f->turns++;
	f->last_turn = l->turn;
	if (line_has(l, KEY_TOOL_CALL))
		call_parse(o, l->value[KEY_TOOL_CALL], m);
	m->is_step = l->step >= 0;
	kinds |= m->is_step ? take_step(o, l, m) : KIND_TURN;
	if (!m->is_step && line_has(l, KEY_TOOL_CALL))
		attribution_failed(&o->attribution, l, false);
	if (m->tool == TOOL_UNLISTED && !m->expected)
		kinds |= KIND_UNLISTED;
	if (line_has(l, KEY_LLM)) {
		json_pick(l->value[KEY_LLM], llm_keys, LLM_MEMBERS, m->llm);
		kinds |= KIND_LLM;
		if (m->llm[LLM_ERROR].p)
			o->attribution.model_failed = true;
	}
	if (!o->terminal && (l->terminated == 1 || l->truncated == 1)) {
		o->terminal = true;
		f->ended_turn = l->turn;
	}
	return kinds;
}

/* The adapter kept only some of the tools. */
static bool are_tools_missing(const struct line *l)
{
	return l->event == EVENT_TRUNCATED_BYTES &&
	       json_is(JSON_GET(l->value[KEY_DETAIL], "what"), STR("tools"));
}

/* Comes before the line with the first reading. */
static void take_reread(struct open_rollout *o, struct str detail)
{
	struct str state = JSON_GET(detail, "state");

	o->reread_busy = !str_is(JSON_GET(detail, "quiet"), "true");
	buf_set(&o->reread, state);
}

static unsigned take_event(struct open_rollout *o, const struct line *l)
{
	if (o->facts.tools_known == TOOLS_ALL && are_tools_missing(l))
		o->facts.tools_known = TOOLS_SOME;
	if (l->event == EVENT_SESSION_REPLACED)
		series_start(&o->series, STR_NONE);
	fold_failure_event(o, l);
	if (l->event == EVENT_STATE_REREAD)
		take_reread(o, l->value[KEY_DETAIL]);
	return KIND_EVENT;
}

unsigned fold_line(struct open_rollout *o, const struct line *l, struct derived_line *m)
{
	mem_clear(m, sizeof(*m));
	m->line = l;
	m->tool = TOOL_NONE;
	m->env_steps = -1;
	switch (l->type) {
	case LINE_STEP:
		return take_turn(o, l, m);
	case LINE_RESET:
		o->terminal = false;
		attribution_reset(&o->attribution, l);
		trace_observation(o, l);
		trace_start(o, l);
		return KIND_RESET;
	case LINE_EVENT:
		return take_event(o, l);
	case LINE_HEADER:
		fold_header(o, l);
		return KIND_HEADER;
	case LINE_END:
	case LINE_TYPES:
	case LINE_UNKNOWN:
		return 0;
	}
	return 0;
}

void counters_number(bool known, double value, char out[32])
{
	struct buf text = BUF(32); /* a double takes 24 bytes at most */

	json_pack(&text, known ? "%f" : "null", value);
	memcpy(out, buf_cstr(&text), text.n + 1);
	buf_release(&text);
}

static void sum_reward(const struct rollout_facts *f, struct str total, char out[32])
{
	double value = f->reward_sum;

	if (total.n > 0 && total.n < 32) {
		memcpy(out, total.p, total.n);
		out[total.n] = '\0';
		return;
	}
	bool known = json_double(total, &value) || f->reward_known;
	counters_number(known, value, out);
}

static struct counters counters_of(const struct open_rollout *o, const struct line *end)
{
	const struct rollout_facts *f = &o->facts;
	/* without steps, `effective` is 0 if there was a state, else unknown */
	bool judged = f->steps > 0 ? o->unknown_effect < f->steps : o->series.any;
	struct counters c = {.turns = f->turns,
	                     .steps = f->steps,
	                     .failed = o->failed,
	                     .longest_failed_run = o->longest_failed_run,
	                     .effective = judged ? o->effective : -1,
	                     .unknown = o->unknown_effect};
	bool has_total = end && line_has(end, KEY_TOTAL_REWARD);

	sum_reward(f, has_total ? end->value[KEY_TOTAL_REWARD] : STR_NONE, c.reward);
	return c;
}

/* The text of a string, valid as long as the rollout. */
static struct str end_text(struct open_rollout *o, struct str value)
{
	struct buf *text = &o->facts.work->text;

	if (json_type(value) != JSON_STRING)
		return STR_NONE;
	if (!json_has_escape(value))
		return json_inner(value);
	buf_clear(text);
	json_decode(value, text);
	return arena_str(&o->arena, buf_view(text));
}

static struct str shown_id(struct open_rollout *o)
{
	struct str id = o->facts.id;
	char number[32];

	if (o->instance == 1)
		return id;
	int n = snprintf(number, sizeof(number), "#%" PRId64, o->instance);
	char *text = arena_new(&o->arena, id.n + (size_t)n + 1);
	memcpy(text, id.p, id.n);
	memcpy(text + id.n, number, (size_t)n);
	return (struct str){text, id.n + (size_t)n};
}

/* Is the rollout unusable for training? (An imported rollout without a status did end.) */
static bool is_lost(enum end_status status)
{
	return status == END_REFUSED || status == END_UNREACHABLE || status == END_INTERRUPTED ||
	       status == END_FAILED || status == END_INCOMPLETE;
}

static void decide_effects(struct open_rollout *o)
{
	struct rollout_facts *f = &o->facts;
	bool uncounted = f->env_count.reported >= STILL_CALLS && !f->env_count.moved;
	const struct deciding d = {.explaining = &o->explaining,
	                           .named = f->source == SOURCE_NAMED && f->state_is_named,
	                           .silent = replies_are_one(&f->replies, uncounted),
	                           .shown = f->replies.show_state,
	                           .steps = o->steps,
	                           .count = (size_t)f->steps};

	verdict_decide(&f->verdict, &o->series, &d);
	for (int64_t i = 0; i < f->steps; i++) {
		const struct completed_step *p = &o->steps[i];

		o->effective += p->effect == EFFECT_CHANGED;
		o->unknown_effect += p->effect == EFFECT_UNKNOWN;
		f->episode.changed += p->effect == EFFECT_CHANGED && !p->outside_episode;
		f->episode.unchanged += p->effect == EFFECT_UNCHANGED && !p->outside_episode;
	}
}

const struct rollout_end *fold_end(struct open_rollout *o, const struct line *end)
{
	enum end_status status = end ? end->status : END_INCOMPLETE;
	struct str reason = end ? end_text(o, end->value[KEY_REASON]) : STR_NONE;

	decide_effects(o);
	o->facts.shared = sharing_add(o->facts.sharing, &o->series);
	sharing_end(o->facts.sharing, o->end_state);
	o->end = (struct rollout_end){.id = shown_id(o),
	                              .instance = o->instance,
	                              .status = status,
	                              .reason = reason,
	                              .lost = is_lost(status),
	                              .counters = counters_of(o, end)};
	fold_failure_end(o);
	o->facts.effective = o->end.counters.effective;
	return &o->end;
}
