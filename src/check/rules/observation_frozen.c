/* Rule observation-frozen: the state moves, the observation given to the policy never does; or no state is
   known, and different calls get one reply that names a value. */
#include "base/hash.h"
#include "check/rule.h"

#define OBSERVATION_MAX ((size_t)64 << 10) /* bytes of the one that is kept */

struct frozen_observation {
	struct span replies;
	uint64_t hash;
	bool differ;
	bool is_start;               /* it is the observation of the reset */
	uint64_t start;              /* its hash; 0: none */
	struct str first;            /* in the rollout's arena */
	uint64_t calls[STILL_CALLS]; /* different ones */
	size_t call_count;
	int tool;
};

static bool is_number(struct str text)
{
	char first = text.n ? text.p[0] : '\0';

	return (first == '-' || (first >= '1' && first <= '9') || (first == '0' && text.n > 1)) &&
	       json_type(text) == JSON_NUMBER;
}

/* "position 1", {"position":1}: what the calls act on, and its value. Not "1 row changed", nor a 0, which are
   acknowledgments. */
static bool names_value(struct str reply)
{
	struct json_member m;
	size_t cursor = 0;

	if (json_type(reply) == JSON_OBJECT) {
		return json_count(reply) == 1 && json_next_member(reply, &cursor, &m) &&
		       is_number(m.value);
	}
	if (json_type(reply) != JSON_STRING)
		return false;
	struct str text = json_inner(reply);
	size_t at = text.n;
	while (at > 0 && text.p[at - 1] != ' ')
		at--;
	return at > 0 && is_number(str_skip(text, at));
}

static void line(void *state, const struct rollout_facts *r, const struct derived_line *m)
{
	struct frozen_observation *s = state;
	struct str value = m->line->value[KEY_OBSERVATION];
	bool text = json_type(value) == JSON_STRING;

	if (m->line->type == LINE_RESET) {
		s->start = !text && json_is_empty(value) ? 0 : fingerprint(value);
		return;
	}
	if (m->outside_episode || m->idle || s->differ)
		return;
	if (s->replies.count == 0) {
		s->tool = m->tool;
		s->hash = fingerprint(value);
		s->first = value.n <= OBSERVATION_MAX ? arena_str(r->arena, value) : STR_NONE;
		s->is_start = s->start && s->hash == s->start;
		s->differ = json_is_null(value) || (text && json_is_empty(value));
	}
	s->differ = s->differ || fingerprint(value) != s->hash;
	bool is_new = true;
	for (size_t i = 0; i < s->call_count; i++)
		is_new = is_new && s->calls[i] != m->call;
	if (is_new && s->call_count < STILL_CALLS)
		s->calls[s->call_count++] = m->call;
	s->tool = s->tool == m->tool ? s->tool : TOOL_NONE;
	span_add(&s->replies, m->line->turn, m->line->step);
}

/* Does the observation have a member that the calls changed in the state? */
static bool repeats_member(const struct frozen_observation *s, const struct rollout_facts *r)
{
	const struct series *x = r->series;

	for (size_t i = 0; s->first.n && i < x->changed_count; i++) {
		const struct member *m = x->changed[i];

		if (m->explanation == MEMBER_EFFECT && !m->is_list && m->pointer.n &&
		    json_point(s->first, m->pointer, &r->work->text).p) {
			return true;
		}
	}
	return false;
}

/* Without a state the calls of one tool, three different ones and three more, must have got it. */
static bool is_unexplained(const struct frozen_observation *s, const struct rollout_facts *r)
{
	return r->source == SOURCE_NONE && s->tool != TOOL_NONE && s->call_count == STILL_CALLS &&
	       s->replies.count >= (int64_t)2 * STILL_CALLS && s->replies.count == r->steps &&
	       names_value(s->first);
}

static void end(void *state, const struct rollout_facts *r, struct findings *out)
{
	const struct frozen_observation *s = state;

	bool repeats = !s->differ && repeats_member(s, r);
	if (!s->differ && is_unexplained(s, r)) {
		finding_add(out, SEVERITY_WARNING, &s->replies, "/observation",
		            "all %" PRId64 " replies to different calls name one value, %.*s: as "
		            "if the environment were rebuilt for each call",
		            s->replies.count, (int)(s->first.n < 64 ? s->first.n : 64), s->first.p);
		return;
	}
	if (s->differ || s->replies.count < STILL_CALLS || r->verdict.moved < STILL_CALLS ||
	    r->source == SOURCE_OBSERVATION || (!s->is_start && !repeats)) {
		return;
	}
	finding_add(out, repeats ? SEVERITY_ERROR : SEVERITY_WARNING, &s->replies, "/observation",
	            "the state changed in %" PRId64 " steps, but all %" PRId64 " observations are "
	            "equal%s: the policy never sees what it did",
	            r->verdict.moved, s->replies.count, s->is_start ? " to that of the reset" : "");
}

const struct check check_observation_frozen = {
	.id = "observation-frozen",
	.title = "the state moves, the observation given to the policy never does",
	.severity = SEVERITY_ERROR,
	.lowered = "they equal that of the reset and have no member of the state, or none is known",
	.explains = {&check_loop},
	.why = "The calls changed the state, but each got the same observation: that of the reset, "
	       "or one with a member that changed. Or no state is known, and six calls of one "
	       "tool, three of them different, got one reply that names a value (\"position 1\").\n"
	       "Look at what a step returns: the observation of before it, one that is built "
	       "once, or the wrong variable.\n"
	       "Fix: return what the environment shows after the step.",
	.needs = FACT(STATE) | FACT(OBSERVATION),
	.wants = KIND_RESET | KIND_OK,
	.state_size = sizeof(struct frozen_observation),
	.line = line,
	.end = end,
};
