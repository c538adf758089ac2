/* Tracks states and observations line by line: see movement.h. Once an effect is certain, only
   states are examined, and only until none of their members can still turn out to be volatile. */
#include "facts/movement.h"

#include "facts/clocks.h"
#include "facts/fingerprint.h"
#include "facts/mirrored.h"
#include "facts/state_subject.h"
#include "json/scan.h"

/* bytes of a state or observation; longer ones count as unknown */
#define KEPT_MAX         ((size_t)64 << 10)
#define CONTRADICTS_MAX  ((size_t)16 << 10) /* bytes of a state */
#define ANSWER_MAX       ((size_t)4 << 10)
#define CONTRADICTED_MIN 2
#define TELLING_MIN      24 /* characters; a shorter text may be a mere acknowledgment */

void movement_release(struct movement_facts *m)
{
	for (size_t i = 0; i < m->answer_count; i++) {
		buf_release(&m->answers[i].value);
	}
	m->answer_count = 0;
	buf_release(&m->state);
	buf_release(&m->observation);
	buf_release(&m->closing);
	unnamed_values_release(&m->values);
	buf_release(&m->arguments);
	buf_release(&m->previous_arguments);
}

void movement_ignore(struct movement_facts *m, struct str pointers)
{
	size_t n = json_count(pointers), cursor = 0, i = 0;
	struct str *list = arena_new(m->arena, (n + 1) * sizeof(*list));
	struct str pointer;

	m->all_ignored = false;
	while (json_next(pointers, &cursor, &pointer)) {
		list[i++] = arena_str(m->arena, json_inner(pointer));
		m->all_ignored = m->all_ignored || json_is(pointer, STR(""));
	}
	m->states.arena = m->observations.arena = m->repeats.arena = m->arena;
	m->states.ignored = m->observations.ignored = m->repeats.ignored = list;
	m->states.ignored_count = m->observations.ignored_count = m->repeats.ignored_count = i;
	m->states.by_words = true;
	m->repeats.never_done = true;
	m->observations.keep_fractions = true;
	m->sent_ms = m->answered_ms = -1;
}

void movement_volatile(struct movement_facts *m, struct str readings)
{
	struct str ranges = JSON_GET(readings, "ranges");
	struct json_member member;
	size_t cursor = 0;
	double range;

	if (!json_double(JSON_GET(readings, "ms"), &m->states.by_call.uncalled_ms)) {
		return;
	}
	while (json_next_member(ranges, &cursor, &member)) {
		if (json_double(member.value, &range)) {
			call_changes_uncalled(&m->states.by_call, m->arena,
			                      &(struct uncalled_change){member.key, range});
		}
	}
}

void movement_reset(struct movement_facts *m, struct str observation)
{
	uniform_replies_reset(&m->uniform, observation);
	unnamed_values_reset(&m->values);
	buf_clear(&m->state);
	buf_clear(&m->observation);
	buf_clear(&m->arguments);
	buf_clear(&m->previous_arguments);
}

static void keep(struct buf *b, struct str value, size_t max)
{
	b->max = max;
	buf_clear(b);
	if (value.n <= max) {
		buf_str(b, value);
	}
}

void movement_ignored_state(struct movement_facts *m, struct str state)
{
	unnamed_values_add(&m->values, state, m->states.ignored, m->states.ignored_count);
}

void movement_closing_read(struct movement_facts *m, struct str state)
{
	keep(&m->closing, state, KEPT_MAX);
}

/* ---- times of readings ---- */

static void take_times(struct movement_facts *m, const struct line *l)
{
	m->previous_sent_ms = m->sent_ms;
	m->previous_answered_ms = m->answered_ms;
	clocks_of_call(m->states.done ? STR_NONE : l->value[KEY_META], &m->sent_ms,
	               &m->answered_ms);
}

static double between_ms(int64_t from, int64_t to)
{
	return from < 0 || to < from ? -1 : (double)(to - from);
}

/* The first number among the arguments, or in a text of them; 0 if there is none. */
static double number_in(struct str arguments)
{
	struct json_member member;
	size_t cursor = 0;
	double number;

	while (json_next_member(arguments, &cursor, &member)) {
		bool text = member.type == JSON_STRING;
		struct str value = text ? json_inner(member.value) : member.value;
		if (text ? json_double_text(value, &number) : json_double(value, &number)) {
			return number;
		}
	}
	return 0;
}

static struct interval since_last(const struct movement_facts *m, const struct line *l, bool called)
{
	struct str meta = l ? l->value[KEY_META] : STR_NONE;
	int64_t now = clocks_unix_ms(l && l->type == LINE_END ? JSON_GET(meta, "ended")
	                                                      : JSON_GET(meta, "at"));

	return (struct interval){.called = called,
	                         .call = m->call,
	                         .newest_arguments = buf_view(&m->arguments),
	                         .previous_arguments = buf_view(&m->previous_arguments),
	                         .argument = number_in(buf_view(&m->arguments)),
	                         .now_ms = now,
	                         .elapsed_ms = {between_ms(m->previous_answered_ms, m->answered_ms),
	                                        between_ms(m->sent_ms, now)},
	                         .least_ms = between_ms(m->previous_answered_ms, m->sent_ms),
	                         .most_ms = between_ms(m->previous_sent_ms, now)};
}

/* ---- observations ---- */

static bool is_telling_value(enum json_type type, struct str value)
{
	switch (type) {
	case JSON_STRING:
		return value.n >= TELLING_MIN;
	case JSON_ARRAY:
	case JSON_OBJECT:
		return value.n > sizeof("[]") - 1;
	default:
		return type == JSON_NUMBER;
	}
}

/* Does it contain more than "ok", true and a reward? */
static bool is_telling(struct str observation)
{
	struct json_member member;
	size_t cursor = 0;

	if (json_type(observation) == JSON_STRING) {
		return observation.n >= TELLING_MIN;
	}
	while (json_next_member(observation, &cursor, &member)) {
		if (is_telling_value(member.type, member.value) &&
		    !str_eq(member.key, STR("reward")) && !str_eq(member.key, STR("metadata"))) {
			return true;
		}
	}
	return json_type(observation) == JSON_ARRAY;
}

/* Do both have the same key with the same value, other than true or null? */
static bool is_shared(const struct member_changes *states, struct str state, struct str observation)
{
	struct json_member member;
	size_t cursor = 0;

	while (json_next_member(state, &cursor, &member)) {
		if ((member.type == JSON_NUMBER || member.value.n > 2) &&
		    member.type != JSON_TRUE && member.type != JSON_FALSE &&
		    member.type != JSON_NULL && !member_changes_ignores(states, member.key) &&
		    str_eq(json_get(observation, member.key), member.value)) {
			return true;
		}
	}
	return false;
}

static bool is_document(struct str value)
{
	return json_type(value) == JSON_OBJECT || json_type(value) == JSON_STRING;
}

/* Compares two successive answers, member by member into `c` if possible; a text is one member. */
static void compare(struct member_changes *c, bool *differ, struct str before, struct str after,
                    const struct interval *between, struct buf *scratch)
{
	if (json_type(before) == JSON_STRING && !str_eq(before, after)) {
		clocks_mask_both(&before, &after, scratch);
	}
	if (str_eq(before, after)) {
		member_changes_take_equal(c, before, after, between);
	} else if (json_type(before) != json_type(after) || !is_document(after)) {
		*differ = true;
	} else {
		member_set set = member_changes_take(c, before, after, between);
		*differ = *differ || set == CHANGES_UNKNOWN;
		if (!*differ) {
			member_changes_count(c, set, true);
		}
	}
}

static struct call_answer *answer_to(struct movement_facts *m, uint64_t call)
{
	for (size_t i = 0; i < m->answer_count; i++) {
		if (m->answers[i].call == call) {
			return &m->answers[i];
		}
	}
	if (m->answer_count == MOVEMENT_ANSWERS_MAX) {
		return NULL;
	}
	m->answers = arena_grow(m->arena, m->answers, m->answer_count, sizeof(*m->answers));
	m->answers[m->answer_count].call = call;
	return &m->answers[m->answer_count++];
}

static void take_repeat(struct movement_facts *m, struct str observation,
                        const struct interval *between, struct buf *scratch)
{
	struct call_answer *a = answer_to(m, m->call);

	if (!a) {
		return;
	}
	if (a->value.n) {
		m->repeated++;
		compare(&m->repeats, &m->repeats_differ, buf_view(&a->value), observation, between,
		        scratch);
	}
	keep(&a->value, observation, ANSWER_MAX);
}

/* Answers that are too long to be stored are only compared for equality. */
static void compare_long(struct movement_facts *m, struct str observation)
{
	bool differ = m->fingerprint ? m->fingerprint != (fingerprint(observation) | 1)
	                             : m->observation.n > 0;

	m->texts_differ = m->texts_differ || differ;
}

static void take_observation(struct movement_facts *m, const struct line *l, struct str tool,
                             struct buf *scratch)
{
	struct str observation = l->value[KEY_OBSERVATION];
	struct interval between = {
		.called = true,
		.call = m->call,
		.arguments = buf_view(&m->arguments),
		.newest_arguments = buf_view(&m->arguments),
		.previous_arguments = buf_view(&m->previous_arguments),
		.now_ms = m->answered_ms,
		.elapsed_ms = {between_ms(m->previous_answered_ms, m->answered_ms), -1},
		.least_ms = between_ms(m->previous_answered_ms, m->sent_ms),
		.most_ms = between_ms(m->previous_sent_ms, m->answered_ms)};

	m->answered++;
	exit_codes_add(&m->exit_codes, observation);
	uniform_replies_add(&m->uniform, m->call, observation);
	tool_replies_add(&m->tools, m->arena, &(struct answered_call){tool, m->call}, observation);
	m->telling = m->telling || is_telling(observation);
	if (!m->observation.n || observation.n > KEPT_MAX) {
		compare_long(m, observation);
	} else {
		compare(&m->observations, &m->texts_differ, buf_view(&m->observation), observation,
		        &between, scratch);
	}
	take_repeat(m, observation, &between, scratch);
	if (m->state.n) {
		m->shared = m->shared || is_shared(&m->states, buf_view(&m->state), observation);
		m->about_calls =
			m->about_calls || state_subject_is_calls(&m->states, buf_view(&m->state),
		                                                 buf_view(&m->arguments));
	}
}

/* A compiler's errors, one less with each attempt, are an observation. Texts and numbers of a
   refusal may differ for each call without anything having moved. */
static void take_refusal(struct movement_facts *m, struct str observation)
{
	struct json_member member;
	size_t cursor = 0;
	uint64_t keys = 1, form = 1;

	while (json_next_member(observation, &cursor, &member)) {
		bool flag = member.type == JSON_TRUE || member.type == JSON_FALSE;
		uint64_t length = member.type == JSON_ARRAY ? json_count(member.value) : 0;
		keys = 31 * keys + fingerprint(member.key);
		form = 31 * form + (flag ? (uint64_t)member.type : length);
	}
	if (!m->refusal_keys) {
		m->refusal_keys = keys;
		m->refusal_form = form;
	}
	m->refusals_differ =
		m->refusals_differ || (keys == m->refusal_keys && form != m->refusal_form);
}

void movement_step(struct movement_facts *m, const struct line *l, const struct movement_call *call,
                   struct buf *scratch)
{
	bool ok = l->outcome == OUTCOME_OK && line_has(l, KEY_OBSERVATION);

	take_times(m, l);
	m->answered_ok = l->outcome == OUTCOME_OK;
	m->call = call->id;
	if (m->seen) {
		return;
	}
	struct buf previous = m->arguments;
	m->arguments = m->previous_arguments;
	m->previous_arguments = previous;
	keep(&m->arguments, call->arguments, ANSWER_MAX);
	if (ok && call->counts) {
		take_observation(m, l, call->tool, scratch);
	} else if (call->counts && line_has(l, KEY_OBSERVATION)) {
		take_refusal(m, l->value[KEY_OBSERVATION]);
	}
	if (m->answered_ok) {
		keep(&m->observation, l->value[KEY_OBSERVATION], KEPT_MAX);
		m->fingerprint = m->observation.n ? 0 : fingerprint(l->value[KEY_OBSERVATION]) | 1;
	}
}

/* ---- states ---- */

static void take_mirrored(struct movement_facts *m, struct str state)
{
	if (m->answered_ok && m->observation.n && state.n) {
		bool same = mirrored_is(&m->states, buf_view(&m->observation), state);
		m->mirrored += same;
		m->not_mirrored += !same;
	}
}

/* Do both contain the same member with different values? */
static bool contradicts(struct str answer, struct str state)
{
	struct json_member member;
	size_t cursor = state.n <= CONTRADICTS_MAX ? 0 : state.n;

	while (json_next_member(state, &cursor, &member)) {
		bool scalar = member.type == JSON_NUMBER || member.type == JSON_STRING;
		struct str in_reply = scalar ? json_get(answer, member.key) : STR_NONE;
		if (json_type(in_reply) == member.type && !str_eq(in_reply, member.value)) {
			return true;
		}
	}
	return false;
}

static void take_pair(struct movement_facts *m, enum effect effect)
{
	if (effect == EFFECT_UNKNOWN) {
		return;
	}
	if (m->pairs++ == 0) {
		m->first_changed = effect == EFFECT_CHANGED;
	} else {
		m->later_changes += effect == EFFECT_CHANGED;
	}
}

/* Determines which members of a changed state differ. */
static enum effect take_change(struct movement_facts *m, const struct line *l, struct str state,
                               bool called, bool in_episode)
{
	member_set set = CHANGES_UNKNOWN;

	if (m->state.n && state.n) {
		struct interval between = since_last(m, l, called);
		set = member_changes_take(&m->states, buf_view(&m->state), state, &between);
	}
	if (set != CHANGES_UNKNOWN && (set & ~member_changes_volatile(&m->states)) == 0) {
		return EFFECT_UNCHANGED;
	}
	if (called) {
		member_changes_count(&m->states, set, in_episode);
		m->seen = m->seen || member_changes_is_certain(&m->states, set);
	}
	return EFFECT_CHANGED;
}

/* Numbers that grow although no call is sent are clocks. */
static void take_closing_read(struct movement_facts *m, struct str state)
{
	struct interval between = {.called = true, .closing = true, .now_ms = -1};
	struct str closing = buf_view(&m->closing);

	if (closing.n && state.n && !str_eq(closing, state)) {
		member_changes_take_closing(&m->states, state, closing, &between);
	}
}

enum effect movement_effect(struct movement_facts *m, const struct line *l, struct str state,
                            enum effect effect, bool called, bool alone, bool in_episode)
{
	enum effect is = effect;
	bool open = !m->seen && called;

	uniform_replies_state(&m->uniform, state);
	if (open) {
		m->contradicted += m->answered_ok && contradicts(buf_view(&m->observation), state);
	}
	if (effect == EFFECT_CHANGED && (called || alone)) {
		is = take_change(m, l, state, called, in_episode);
	} else if (effect == EFFECT_UNCHANGED && !m->states.done) {
		struct interval between = since_last(m, l, called);
		member_changes_take_equal(&m->states, buf_view(&m->state), state, &between);
	}
	if (open) {
		take_mirrored(m, state);
	}
	if (called) {
		take_pair(m, is);
	}
	if (l && l->type == LINE_END) {
		take_closing_read(m, state);
	}
	if (m->states.done) {
		buf_clear(&m->state);
	} else {
		keep(&m->state, state, KEPT_MAX);
	}
	return is;
}

/* ---- the verdict ---- */

/* Members whose changes are not effects: clocks, generated ids, call counters and echoes. A
   number in a text is a call counter unless the environment's own count changes (`counted`). */
static member_set explained(const struct member_changes *c, bool counted)
{
	return member_changes_volatile(c) | member_changes_counters(c) | member_changes_stamps(c) |
	       member_changes_fresh(c) | member_changes_echoes(c) | member_changes_echo_texts(c) |
	       (counted ? 0 : member_changes_text_counters(c));
}

/* Did answers differ in anything except these members? */
static bool differ(const struct member_changes *c, bool texts, member_set these)
{
	int64_t all = 0;

	for (size_t i = 0; i < c->set_count; i++) {
		all += c->sets[i].steps;
	}
	return texts || member_changes_within(c, these).steps < all;
}

/* What is measured of programs that all fail is no effect: their durations. */
static member_set measured(const struct movement_facts *m, const struct member_changes *c)
{
	return exit_codes_all_failed(&m->exit_codes) ? member_changes_fractions(c) : 0;
}

/* Did answers to the same call differ, except in members that are call counters, clocks and the
   like there or among all answers? */
static bool repeats_differ(const struct movement_facts *m, bool counted)
{
	const struct member_changes *c = &m->repeats, *all = &m->observations;

	return differ(c, m->repeats_differ,
	              explained(c, counted) | measured(m, c) |
	                      member_changes_alike(c, all, explained(all, counted)));
}

static bool observations_differ(const struct movement_facts *m, bool counted)
{
	const struct member_changes *c = &m->observations;

	return differ(c, m->texts_differ, explained(c, counted) | measured(m, c));
}

bool movement_replies_differ(const struct movement_facts *m, bool count_moved)
{
	return m->answered > 0 && observations_differ(m, count_moved);
}

/* Are the answers acknowledgments: short ones, which depend on the call alone ("ordered 5",
   "waited")? */
static bool acknowledges(const struct movement_facts *m)
{
	return !m->telling && m->repeated > 0 && !repeats_differ(m, true);
}

/* If observations do not change or are mere acknowledgments, texts that only name the call are no
   effects, nor are call counters and stamps if the state has other members that do not change. */
static member_set without_effect(const struct movement_facts *m)
{
	const struct member_changes *c = &m->states;
	member_set set = member_changes_volatile(c), stamps = member_changes_stamps(c),
		   counters = member_changes_counters(c) | stamps;

	if (m->seen || m->answered == 0 || (observations_differ(m, true) && !acknowledges(m))) {
		return set;
	}
	if (counters && member_changes_has_others(c, set | counters, buf_view(&m->state))) {
		set |= counters;
	}
	if (stamps && member_changes_has_others(c, set | stamps, buf_view(&m->state))) {
		set |= stamps;
	}
	return set | member_changes_echo_texts(c);
}

/* If the observation is the state, the first answer may differ from the reset's observation only
   in form, which is assumed if all later answers are equal. */
static bool is_first_void(const struct movement_facts *m, bool from_observations)
{
	bool mirrors = from_observations || (m->mirrored >= 2 && m->not_mirrored == 0);

	return mirrors && m->first_changed && m->later_changes == 0 && m->pairs >= 3;
}

struct change_set movement_correction(const struct movement_facts *m, bool from_observations)
{
	if (is_first_void(m, from_observations)) {
		return (struct change_set){.steps = 1, .in_episode = 1};
	}
	return member_changes_within(&m->states, without_effect(m));
}

static enum movement without_state(const struct movement_facts *m, const struct movement_context *c)
{
	bool equal =
		m->answered > 0 ? !observations_differ(m, c->count_moved) : c->failed == c->calls;

	return c->counts && !c->count_moved && equal ? MOVEMENT_NONE : MOVEMENT_UNKNOWN;
}

enum movement movement_verdict(const struct movement_facts *m, const struct movement_context *c)
{
	if (c->changed > 0) {
		return MOVEMENT_SEEN;
	}
	if (c->unchanged == 0) {
		bool stays = unnamed_values_stay(&m->values) &&
		             !movement_replies_differ(m, c->count_moved);
		return stays ? MOVEMENT_NONE : without_state(m, c);
	}
	if ((m->contradicted >= CONTRADICTED_MIN || uniform_replies_found(&m->uniform)) &&
	    c->counts && !c->count_moved) {
		/* the state is that of an environment on which no call acts */
		return MOVEMENT_NONE;
	}
	if (call_changes_found(&m->states.by_call) || recurring_words_found(&m->states.words)) {
		return MOVEMENT_IGNORED;
	}
	if (repeats_differ(m, c->count_moved) || m->refusals_differ) {
		return MOVEMENT_UNSHOWN;
	}
	if (m->answered == 0 || exit_codes_none_ran(&m->exit_codes) ||
	    tool_replies_are_alike(&m->tools) || !observations_differ(m, c->count_moved)) {
		/* mere acknowledgments cannot show a change */
		bool inconclusive = c->from_observations && m->answered > 0 && !m->telling;
		return inconclusive && (c->count_moved || !c->counts) ? MOVEMENT_UNKNOWN
		                                                      : MOVEMENT_NONE;
	}
	/* answers depend only on the call, and the state could show the effect of calls */
	bool shows = m->about_calls || (m->shared && m->repeated > 0);
	return shows || 2 * c->failed >= c->calls ? MOVEMENT_NONE : MOVEMENT_UNSHOWN;
}
