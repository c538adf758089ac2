/* Rule seed-ignored: equal seeds and calls gave different trajectories. */
#include "check/rule.h"

/* The debugger repeated a rollout's calls for a fork, and compared the states. */
static void find(void *state, const struct rollout_facts *r, const struct derived_line *m,
                 struct findings *out)
{
	struct str detail = m->line->value[KEY_DETAIL];
	int64_t calls;

	if (m->line->event != EVENT_FORK_DIVERGED || !r->has_seed ||
	    !str_is(JSON_GET(detail, "seeded"), "true") ||
	    !json_i64(JSON_GET(detail, "calls"), &calls)) {
		return;
	}
	finding_add(out, SEVERITY_WARNING, NULL, "",
	            "seed %" PRId64 " did not reproduce the rollout that this one was forked from: "
	            "the state differs after %" PRId64 " identical call%s",
	            r->seed, calls, plural(calls));
}

static void group(const struct task_group *g, struct findings *out)
{
	char when[64] = "at the start";

	if (g->seed_differ == 0)
		return;
	if (g->seed_calls > 0) {
		snprintf(when, sizeof(when), "after %" PRId64 " identical call%s", g->seed_calls,
		         plural(g->seed_calls));
	}
	finding_add(out, SEVERITY_WARNING, NULL, "",
	            "seed %" PRId64 " did not reproduce task %s: %" PRId64 " of %" PRId64
	            " rollouts differ%s from the first %s",
	            g->seed, g->name, g->seed_differ, g->seeded, g->seed_differ == 1 ? "s" : "",
	            when);
}

const struct check check_seed_ignored = {
	.id = "seed-ignored",
	.title = "the same seed and the same calls gave different trajectories",
	.severity = SEVERITY_WARNING,
	.more = "rolldbg probe \1env\2 URL",
	.why = "Rollouts of one task had the same seed and made the same calls, but the states "
	       "differ (observations, where no state is known), or texts and lists in the "
	       "replies to the reset do; or the repeated calls of a fork led to another state. "
	       "Times, ids, ignored members and what changes without a call are not compared. "
	       "Nothing can be reproduced: rewards in a group reflect chance, too.\n"
	       "Look at whether the seed arrives, and at what reset(seed=..) seeds: every random "
	       "generator of the episode must be its own, not a module-level one.\n"
	       "Fix: seed all generators of the environment in reset or, where randomness is "
	       "wanted, use no seed or a different one for each rollout.",
	.needs = FACT(SEED),
	.wants = KIND_EVENT,
	.find = find,
	.group = group,
};
