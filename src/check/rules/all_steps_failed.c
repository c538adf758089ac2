/* Rule all-steps-failed: the rollout's only step failed. */
#include "check/rule.h"

struct first_step {
	struct span span;
	bool refuted; /* only its content indicates a failure, but the state changed */
	const char *error;
};

static void completed(void *state, const struct rollout_facts *r, const struct completed_step *p,
                      struct findings *out)
{
	struct first_step *s = state;
	if (s->span.count > 0 || !p->failed)
		return;
	span_add(&s->span, p->turn, p->step);
	s->error = p->error;
	s->refuted = p->by_content && p->effect == EFFECT_CHANGED;
}

static void end(void *state, const struct rollout_facts *r, const struct derived_line *m,
                struct findings *out)
{
	const struct first_step *s = state;
	if (r->episode.steps == 1 && r->episode.failed == 1 && !s->refuted &&
	    !drawn_calls_do_not_fit(r)) {
		finding_add(out, SEVERITY_ERROR, &s->span, "/outcome", "the only step failed: %s",
		            s->error);
	}
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
	.state_size = sizeof(struct first_step),
	.completed = completed,
	.end = end,
};
