/* Rule all-steps-failed: the rollout's only step failed. */
#include "check/rule.h"

static void end(void *state, const struct rollout_facts *r, struct findings *out)
{
	const struct completed_step *p = NULL; /* the first that failed */
	struct span where = {.count = 0};

	for (int64_t i = 0; i < r->steps && !p; i++)
		p = r->completed[i].failed ? &r->completed[i] : NULL;
	/* refuted: only its content indicates a failure, but the state changed */
	if (!p || r->episode.steps != 1 || r->episode.failed != 1 ||
	    (p->by_content && p->effect == EFFECT_CHANGED) || drawn_calls_do_not_fit(r)) {
		return;
	}
	span_add(&where, p->turn, p->step);
	finding_add(out, SEVERITY_ERROR, &where, "/outcome", "the only step failed: %s", p->error);
}

const struct check check_all_steps_failed = {
	.id = "all-steps-failed",
	.title = "the rollout's only step failed",
	.severity = SEVERITY_ERROR,
	.explains = {&check_one_step_episode},
	.why = "The rollout made one call and it failed. Nothing happened in this rollout, "
	       "whatever its reward says. (Longer rollouts in which every step failed are a "
	       "multi-step-illusion.)\n"
	       "Look at the error and its layer, and compare the call's tool name and arguments "
	       "with the schema in the header's tools.\n"
	       "Fix what the error names. If many rollouts of a batch look like this one, the "
	       "environment or the connection to it is broken, not the policy.",
	.end = end,
};
