/* Rule aliased-state: an imported recording has the last state in every step. */
#include "check/rule.h"

#define MEMBERS 8 /* number of top-level members compared with observations */

/* A member of the state that observations also have. */
struct seen_member {
	bool differed; /* an observation had a different value than the state */
	bool equal;    /* the last observation has the same value */
};

struct aliased {
	struct span steps;
	int64_t first_count, last_count; /* the environment's step count, if counted > 0 */
	int64_t counted;
	int64_t count_before; /* step count of the first state; -1: unknown */
	struct seen_member members[MEMBERS];
	char name[48]; /* of the first member that differed */
};

static bool is_count(struct str key)
{
	return str_eq(key, STR("step")) || str_eq(key, STR("steps")) ||
	       str_ends(key, STR("step_count")) || str_ends(key, STR("stepCount")) ||
	       str_ends(key, STR("_steps"));
}

static void compare_states(struct aliased *s, const struct rollout_facts *r, size_t i,
                           const struct json_member *m, struct str observation)
{
	char pointer[64];
	int n = snprintf(pointer, sizeof(pointer), "/%.*s", STR_ARG(m->key));

	if (n >= (int)sizeof(pointer) || memchr(m->key.p, '/', m->key.n) ||
	    memchr(m->key.p, '~', m->key.n) || memchr(m->key.p, '\\', m->key.n)) {
		return;
	}
	struct str now = json_point(observation, str_from(pointer), &r->work->text);
	if (!now.p)
		return;
	struct seen_member *seen = &s->members[i];
	seen->equal = str_eq(now, m->value);
	if (!seen->equal && !seen->differed) {
		seen->differed = true;
		if (!s->name[0])
			peer_name(r->work, m->key, s->name, sizeof(s->name));
	}
}

static void compare_members(struct aliased *s, const struct rollout_facts *r, const struct line *l)
{
	struct str state = l->value[KEY_STATE];
	struct json_member m;
	size_t cursor = 0;

	if (json_type(state) != JSON_OBJECT)
		return;
	for (size_t i = 0; json_next_member(state, &cursor, &m) && i < MEMBERS; i++) {
		compare_states(s, r, i, &m, l->value[KEY_OBSERVATION]);
		if (s->steps.count == 0 && is_count(m.key))
			json_i64(m.value, &s->count_before);
	}
}

static void line(void *state, const struct rollout_facts *r, const struct derived_line *m)
{
	struct aliased *s = state;

	if (!r->imported || r->series->changed_count > 0 || m->outside_episode ||
	    !line_has(m->line, KEY_STATE_HASH)) {
		return;
	}
	if (s->steps.count == 0)
		s->count_before = -1;
	compare_members(s, r, m->line);
	if (!m->failed && !m->idle)
		span_add(&s->steps, m->line->turn, m->line->step);
	if (m->env_steps < 0)
		return;
	if (s->counted++ == 0)
		s->first_count = m->env_steps;
	s->last_count = m->env_steps;
}

static bool observed(const struct aliased *s)
{
	for (size_t i = 0; i < MEMBERS; i++)
		if (s->members[i].differed && s->members[i].equal)
			return true;
	return false;
}

static void end(void *state, const struct rollout_facts *r, struct findings *out)
{
	const struct aliased *s = state;
	const struct episode_counts *e = &r->episode;
	const struct span *steps = s->steps.count ? &s->steps : NULL;
	bool moved = s->counted >= 2 && s->last_count > s->first_count;

	if (!r->imported || r->series->changed_count > 0 || e->unchanged < 2)
		return;
	if (observed(s)) {
		finding_add(out, SEVERITY_ERROR, steps, "/state",
		            "every step has the final state, although %s changed in the "
		            "observations",
		            s->name);
	} else if (moved && s->count_before == s->last_count) {
		finding_add(out, SEVERITY_ERROR, steps, "/state",
		            "the state before the first step already counts %" PRId64 " "
		            "steps, as many as the final one",
		            s->count_before);
	} else if (moved && e->failed == 0 && s->steps.count >= 3) {
		finding_add(out, SEVERITY_WARNING, steps, "/state",
		            "every step has the final state, although the environment's step "
		            "count went from %" PRId64 " to %" PRId64,
		            s->first_count, s->last_count);
	}
}

const struct check check_aliased_state = {
	.id = "aliased-state",
	.title = "an imported recording has the last state in every step",
	.severity = SEVERITY_ERROR,
	.lowered = "only the environment's own step count shows that it moved",
	.explains = {&check_frozen_state, &check_no_effect, &check_reward_without_effect},
	.why = "All states equal the final one, although observations or the environment's own "
	       "step count changed. Recorders do this that store the state object itself in each "
	       "step and write the file at the end. The states, and every count of effective "
	       "steps, are worthless.\n"
	       "Compare the state of the first step with its observation, and check whether the "
	       "recorder appends states to a list without copying them.\n"
	       "Fix: copy the state (copy.deepcopy, or serialize it) when the step is recorded, "
	       "and record again.",
	.needs = FACT(STATE),
	.wants = KIND_OK | KIND_FAILED,
	.state_size = sizeof(struct aliased),
	.line = line,
	.end = end,
};
