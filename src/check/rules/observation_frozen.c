/* Rule observation-frozen: the state moves, the observation given to the policy never does. */
#include "check/check.h"

#include "base/hash.h"
#include "evidence/limits.h"

#include <inttypes.h>

#define OBSERVATION_MAX ((size_t)64 << 10) /* bytes of the one that is kept */

struct frozen_observation {
	struct span replies;
	uint64_t hash;
	bool differ;
	bool is_start;    /* it is the observation of the reset */
	uint64_t start;   /* its hash; 0: none */
	struct str first; /* in the rollout's arena */
};

static bool is_empty(struct str value)
{
	return json_is_null(value) || json_is(value, STR("")) || json_count(value) == 0;
}

static void line(void *state, const struct rollout_facts *r, const struct derived_line *m,
                 struct findings *out)
{
	(void)out;
	struct frozen_observation *s = state;
	struct str value = m->line->value[KEY_OBSERVATION];
	bool text = json_type(value) == JSON_STRING;

	if (m->line->type == LINE_RESET) {
		s->start = !text && is_empty(value) ? 0 : fingerprint(value);
		return;
	}
	if (m->outside_episode || m->idle || s->differ) {
		return;
	}
	if (s->replies.count == 0) {
		s->hash = fingerprint(value);
		s->first = value.n <= OBSERVATION_MAX ? arena_str(r->arena, value) : STR_NONE;
		s->is_start = s->start && s->hash == s->start;
		s->differ = json_is_null(value) || json_is(value, STR(""));
	}
	s->differ = s->differ || fingerprint(value) != s->hash;
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

static void end(void *state, const struct rollout_facts *r, const struct derived_line *m,
                struct findings *out)
{
	const struct frozen_observation *s = state;

	(void)m;
	bool repeats = repeats_member(s, r);
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
	.lowered = "they equal that of the reset and have no member of the state",
	.explains = {&check_loop},
	.why = "The calls changed the state, but each got the same observation: that of the "
	       "reset, or one with a member that changed in the state. Short acknowledgments "
	       "(\"ok\") are no observations and are not reported.\n"
	       "Look at what the server returns from a step: the observation of before the step, "
	       "one that is cached or built once, or the wrong variable.\n"
	       "Fix: return what the environment shows after the step.",
	.needs = FACT(STATE) | FACT(OBSERVATION),
	.wants = KIND_RESET | KIND_OK,
	.state_size = sizeof(struct frozen_observation),
	.line = line,
	.end = end,
};
