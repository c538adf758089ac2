/* Processes one rollout line by line: see fold.h. This runs once for every line of every
   recording, so work that only failed steps need is done for failed steps only. */
#include "facts/fold.h"

#include "facts/call.h"
#include "facts/clocks.h"
#include "facts/cross_rollout.h"
#include "facts/fingerprint.h"
#include "facts/peer.h"
#include "json/write.h"

#include <inttypes.h>
#include <stdio.h>

static void count_effect(struct open_rollout *o, const struct completed_step *p)
{
	struct episode_counts *e = &o->facts.episode;

	o->effective += p->effect == EFFECT_CHANGED;
	o->unknown_effect += p->effect == EFFECT_UNKNOWN;
	if (p->outside_episode) {
		return;
	}
	e->changed += p->effect == EFFECT_CHANGED;
	e->unchanged += p->effect == EFFECT_UNCHANGED;
}

/* States after the end still belong to the episode until another step is sent. */
static bool is_in_episode(const struct open_rollout *o)
{
	return !o->terminal || (o->pending && !o->newest->outside_episode);
}

static bool may_have_state(const struct line *l)
{
	return l->type == LINE_STEP || l->type == LINE_END;
}

/* The effect shown by this line, which has the state after the last step. Decided here alone: do
   the hashes differ, and in more than volatile members? (correct_totals() removes changes that
   only the whole rollout reveals as no effect.) */
static enum effect effect_shown(struct open_rollout *o, const struct line *l)
{
	bool called = o->pending, ignored = o->movement.all_ignored;
	bool has_state = l && may_have_state(l), judged = has_state && !ignored;
	struct str state = has_state && line_has(l, KEY_STATE) ? l->value[KEY_STATE] : STR_NONE;
	struct str hash = judged ? line_state_hash(l) : STR_NONE;
	enum effect effect = states_add(&o->states, hash, called, is_in_episode(o));

	if (ignored && state.n) {
		movement_ignored_state(&o->movement, state);
	}
	return movement_effect(&o->movement, l, judged ? state : STR_NONE, effect, called,
	                       o->facts.alone, called && !o->newest->outside_episode);
}

/* ---- pauses between calls, in which other rollouts may act ---- */

static struct pause pause_now(struct open_rollout *o)
{
	struct cross_rollout *c = o->facts.cross_rollout;

	return (struct pause){.sharing = &c->sharing,
	                      .states = &o->movement.states,
	                      .arena = &o->arena,
	                      .rollout = o->number,
	                      .now = c->clock,
	                      .alone = o->alone_lines >= 2,
	                      .others_called = cross_rollout_others_called(c)};
}

static void add_to_sequence(struct open_rollout *o, const struct line *l, struct str state)
{
	struct reply_sequence *s = &o->facts.cross_rollout->replies;
	struct sequence_reply reply = {.rollout = o->number,
	                               .reset = l->type == LINE_RESET,
	                               .call = o->movement.call,
	                               .state = state,
	                               .previous = buf_view(&o->pauses.previous),
	                               .states = &o->movement.states,
	                               .observation = l->value[KEY_OBSERVATION]};

	if (!s->closed) {
		clocks_of_call(l->value[KEY_META], &reply.sent_ms, &reply.answered_ms);
		bool added = reply_sequence_add(s, &reply);
		o->facts.in_sequence = o->facts.in_sequence || (added && !reply.reset);
	}
}

static void begin_pause(struct open_rollout *o, const struct line *l)
{
	const struct rollout_facts *f = &o->facts;

	/* other rollouts may still join the first one */
	bool may = (f->concurrent || f->cross_rollout->begun == 1) &&
	           f->cross_rollout->sharing.pauses < SHARING_PAUSES;

	if (l->outcome == OUTCOME_OK && may && f->steps <= SHARING_STEPS) {
		struct pause at = pause_now(o);
		struct str state = line_has(l, KEY_STATE) ? l->value[KEY_STATE] : STR_NONE;

		add_to_sequence(o, l, state);
		pauses_begin(&o->pauses, &at, state, l->value[KEY_OBSERVATION]);
	}
}

static void end_pause(struct open_rollout *o, const struct line *l)
{
	const struct rollout_facts *f = &o->facts;

	if (o->pauses.reply.n && (l->type == LINE_END || (l->type == LINE_STEP && l->step >= 0))) {
		struct pause at = pause_now(o);
		pauses_end(&o->pauses, &at, line_has(l, KEY_STATE) ? l->value[KEY_STATE] : STR_NONE,
		           f->env_count.now, l->turn, l->step);
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
		trace_add(&o->trace, &o->movement.states, l->value[KEY_STATE],
		          &o->facts.work->text);
	}
}

static void trace_observation(struct open_rollout *o, const struct line *l)
{
	if (traces(o, false) && l->outcome == OUTCOME_OK && line_has(l, KEY_OBSERVATION)) {
		trace_add(&o->trace, &o->movement.observations, l->value[KEY_OBSERVATION],
		          &o->facts.work->text);
	}
}

static void trace_start(struct open_rollout *o, const struct line *l)
{
	if (traces(o, true) && l->outcome == OUTCOME_OK && line_has(l, KEY_OBSERVATION)) {
		trace_add_start(&o->trace, l->value[KEY_OBSERVATION], &o->facts.work->text);
	}
}

static void take_start(struct open_rollout *o)
{
	struct rollout_facts *f = &o->facts;

	if (!o->started && o->states.now.n) {
		o->started = true;
		f->continued = succession_begin(&f->cross_rollout->succession, o->states.now,
		                                !f->concurrent);
	}
}

const struct completed_step *fold_complete_step(struct open_rollout *o, const struct line *l,
                                                unsigned *kinds)
{
	struct rollout_facts *f = &o->facts;
	bool pending = o->pending;

	*kinds = 0;
	if (l && !may_have_state(l) && l->type != LINE_RESET && l->type != LINE_HEADER) {
		return NULL;
	}
	if (l) {
		end_pause(o, l);
		trace_state(o, l);
	}
	enum effect effect = effect_shown(o, l);
	take_start(o);
	f->episode.state_varied = o->states.varied;
	f->changed_without_call = !pending && effect == EFFECT_CHANGED;
	if (!pending) {
		return NULL;
	}
	o->pending = false;
	o->newest->effect = effect;
	count_effect(o, o->newest);
	if (effect != EFFECT_UNKNOWN) {
		chance_effect(&f->cross_rollout->chance, &o->chance, effect == EFFECT_CHANGED,
		              o->movement.seen);
	}
	bool failed = o->newest->failed || o->newest->expected;
	*kinds = KIND_COMPLETED | (failed || o->completed_failed ? KIND_COMPLETED_FAILED : 0U);
	o->completed_failed = failed;
	return o->newest;
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
	if (!m->reward_seen) {
		return;
	}
	o->so_far.reward_seen = true;
	o->so_far.reward = m->reward;
	if (failed) {
		return;
	}
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
	f->episode.invalid += counts && line_error_class(m->line) == CLASS_ARGUMENTS;
	if (++f->failed_run > o->longest_failed_run) {
		o->longest_failed_run = f->failed_run;
	}
}

static bool is_expected(struct open_rollout *o, const struct line *l)
{
	struct str value = peer_error_value(l);

	if (o->hints->error_count == 0) {
		return false;
	}
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

/* Keeps the error of the first of consecutive failures. */
static void take_error(struct open_rollout *o, const struct line *l,
                       const struct completed_step *before)
{
	if (o->facts.failed_run == 1 || before->effect == EFFECT_CHANGED || before->expected) {
		peer_error(o->facts.work, l, o->newest->error);
	} else {
		memcpy(o->newest->error, before->error, sizeof(before->error));
	}
}

/* Uses the other slot, because the previous step was reported and must stay valid. */
static void take_newest(struct open_rollout *o, const struct line *l, const struct derived_line *m)
{
	const struct completed_step *before = o->newest;
	struct completed_step *now = &o->steps[before == &o->steps[0]];

	o->pending = true;
	o->newest = now;
	now->failed = m->failed;
	now->expected = m->expected;
	now->by_content = m->failed && json_is(JSON_GET(l->value[KEY_ERROR], "layer"), STR("body"));
	now->idle = m->idle;
	now->outside_episode = m->outside_episode;
	now->effect = EFFECT_UNKNOWN;
	now->turn = l->turn;
	now->step = l->step;
	now->tool = m->tool;
	now->error[0] = '\0';
	if (m->failed || m->expected) {
		take_error(o, l, before);
	}
}

static void take_movement(struct open_rollout *o, const struct line *l,
                          const struct derived_line *m)
{
	const struct movement_call call = {.id = m->call,
	                                   .tool = m->tool_name,
	                                   .arguments = m->arguments,
	                                   .counts = !m->outside_episode && !m->idle};

	movement_step(&o->movement, l, &call, &o->facts.work->text);
}

/* The states of some protocols contain the environment's own count. */
static int64_t start_count(const struct line *l)
{
	int64_t count;
	bool known = json_i64(JSON_GET(l->value[KEY_STATE], "step_count"), &count) && count >= 0;

	return known ? count : -1;
}

static void take_count(struct rollout_facts *f, const struct line *l, int64_t env_steps)
{
	int64_t before = f->env_count.reported ? f->env_count.now : start_count(l);

	env_count_add(&f->env_count, env_steps);
	cross_rollout_count(f->cross_rollout, before, env_steps);
}

/* Sets the members of `m` for a call that was sent. */
static void derive_step(struct open_rollout *o, const struct line *l, struct derived_line *m)
{
	struct rollout_facts *f = &o->facts;
	bool ok = l->outcome == OUTCOME_OK;

	m->expected = !ok && is_expected(o, l);
	m->failed = !ok && !m->expected;
	/* a call interrupted by the user failed, but outside the episode */
	if (!ok && json_is(JSON_GET(l->value[KEY_ERROR], "code"), STR("interrupted"))) {
		m->outside_episode = true;
	}
	m->idle = (m->tool >= 0 && f->tools[m->tool].read_only) ||
	          ((o->hints->noop || o->hints->read_only) &&
	           hints_idle(o->hints, m->tool_name, m->arguments));
	m->call = fingerprint(m->tool_name) ^ 3 * fingerprint(m->arguments);
	m->env_steps = line_count(l->value[KEY_ENV_STEPS]);
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
	if (ok) {
		f->failed_run = 0;
	} else {
		count_failure(o, m);
	}
	take_reward(o, l, m);
	take_newest(o, l, m);
	take_movement(o, l, m);
	if (m->env_steps >= 0 && !m->outside_episode) {
		take_count(f, l, m->env_steps);
	}
	if (!line_has(l, KEY_STATE)) {
		kinds |= KIND_NO_STATE;
	}
	if (!line_has(l, KEY_REWARD) || l->terminated < 0) {
		kinds |= KIND_UNREPORTED;
	}
	begin_pause(o, l);
	if (f->steps <= SHARING_STEPS) {
		bool followed = ok && !m->idle && !m->outside_episode;
		chance_call(&o->chance, followed ? line_state_hash(l) : STR_NONE, m->call);
	}
	if (f->has_seed && o->trace.calls <= TRACE_CALLS) {
		trace_call(&o->trace, m->call);
		trace_observation(o, l);
	}
	if (m->expected) {
		return 0;
	}
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
	if (l->turn < 0 || l->turn != f->last_turn) {
		f->turns++;
	}
	f->last_turn = l->turn;
	if (line_has(l, KEY_TOOL_CALL)) {
		call_parse(o, l->value[KEY_TOOL_CALL], m);
	}
	m->is_step = l->step >= 0;
	kinds |= m->is_step ? take_step(o, l, m) : KIND_TURN;
	if (m->tool == TOOL_UNLISTED && !m->expected) {
		kinds |= KIND_UNLISTED;
	}
	if (f->changed_without_call) {
		kinds |= KIND_CHANGED_WITHOUT_CALL;
	}
	if (line_has(l, KEY_LLM)) {
		json_pick(l->value[KEY_LLM], llm_keys, LLM_MEMBERS, m->llm);
		kinds |= KIND_LLM;
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

static void take_reread(struct open_rollout *o, struct str detail)
{
	struct str state = JSON_GET(detail, "state");

	if (JSON_GET(detail, "waited_ms").n) {
		movement_closing_read(&o->movement, state);
	} else {
		struct pause at = pause_now(o);
		pauses_reread(&o->pauses, &at, state, str_is(JSON_GET(detail, "quiet"), "true"));
	}
}

static unsigned take_event(struct open_rollout *o, const struct line *l)
{
	if (o->facts.tools_known == TOOLS_ALL && are_tools_missing(l)) {
		o->facts.tools_known = TOOLS_SOME;
	}
	if (l->event == EVENT_SESSION_REPLACED) {
		states_session_replaced(&o->states);
	}
	if (l->event == EVENT_STATE_REREAD) {
		take_reread(o, l->value[KEY_DETAIL]);
	}
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
		movement_reset(&o->movement, l->value[KEY_OBSERVATION]);
		cross_rollout_reset(o->facts.cross_rollout);
		begin_pause(o, l);
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
	struct json_writer json;

	jw_init(&json, &text);
	if (known) {
		jw_double(&json, value);
	} else {
		jw_null(&json);
	}
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
	bool judged = f->steps > 0 ? o->unknown_effect < f->steps : o->states.any;
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

	if (json_type(value) != JSON_STRING) {
		return STR_NONE;
	}
	if (!json_has_escape(value)) {
		return json_inner(value);
	}
	buf_clear(text);
	json_decode(value, text);
	return arena_str(&o->arena, buf_view(text));
}

static struct str shown_id(struct open_rollout *o)
{
	struct str id = o->facts.id;
	char number[32];

	if (o->instance == 1) {
		return id;
	}
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

/* Corrects the totals by facts that are only known at the end of the rollout. */
static void correct_totals(struct open_rollout *o)
{
	struct rollout_facts *f = &o->facts;
	struct episode_counts *e = &f->episode;
	bool from_observations = f->source == SOURCE_OBSERVATION;
	struct change_set none = movement_correction(&o->movement, from_observations);

	o->effective -= none.steps;
	e->changed -= none.in_episode;
	e->unchanged += none.in_episode;
	f->movement = movement_verdict(
		&o->movement, &(struct movement_context){.calls = e->steps - e->idle,
	                                                 .failed = e->failed,
	                                                 .changed = e->changed,
	                                                 .unchanged = e->unchanged,
	                                                 .from_observations = from_observations,
	                                                 .counts = f->env_count.reported >= 2,
	                                                 .count_moved = f->env_count.moved});
	f->by_chance = chance_is_seen(&f->cross_rollout->chance, &o->chance);
	f->replies_differ = movement_replies_differ(&o->movement, f->env_count.moved);
	if (f->movement == MOVEMENT_UNSHOWN || f->movement == MOVEMENT_IGNORED) {
		o->unknown_effect = f->steps;
	}
}

const struct rollout_end *fold_end(struct open_rollout *o, const struct line *end)
{
	enum end_status status = end ? end->status : END_INCOMPLETE;
	struct str reason = end ? end_text(o, end->value[KEY_REASON]) : STR_NONE;

	correct_totals(o);
	succession_end(&o->facts.cross_rollout->succession, o->states.now, o->effective);
	o->end = (struct rollout_end){.id = shown_id(o),
	                              .status = status,
	                              .reason = reason,
	                              .lost = is_lost(status),
	                              .counters = counters_of(o, end)};
	o->facts.effective = o->end.counters.effective;
	return &o->end;
}
