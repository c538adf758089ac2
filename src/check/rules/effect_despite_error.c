/* Rule effect-despite-error: a step failed but changed the state. */
#include "check/rule.h"

struct despite {
	struct span steps;
	const char *error; /* of the first such step */
};

static void completed(void *state, const struct rollout_facts *r, const struct completed_step *p,
                      struct findings *out)
{
	struct despite *s = state;
	if (!(p->failed || p->expected) || p->outside_episode || p->effect != EFFECT_CHANGED)
		return;
	if (s->steps.count == 0)
		s->error = p->error;
	span_add(&s->steps, p->turn, p->step);
}

static void end(void *state, const struct rollout_facts *r, const struct derived_line *m,
                struct findings *out)
{
	const struct despite *s = state;
	if (s->steps.count > 0) {
		finding_add(out, SEVERITY_WARNING, &s->steps, "/outcome",
		            "%" PRId64 " failed step%s changed the state; first error: %s",
		            s->steps.count, plural(s->steps.count), s->error);
	}
}

const struct check check_effect_despite_error = {
	.id = "effect-despite-error",
	.title = "a step failed but changed the state",
	.severity = SEVERITY_WARNING,
	.why = "The step was reported to the policy as failed, yet the state after it differs from "
	       "the state before. A policy that believes the error repeats the step, and learns "
	       "the wrong thing from the reward.\n"
	       "Look at the outcome and at error.layer: after a timeout or a lost connection the "
	       "server may have finished the step; a tool may write first and fail while building "
	       "its reply; a clock or counter in the state changes with every request (exclude it "
	       "with \1ignore\2). If every step changes the same member, that is the cause.\n"
	       "Fix: make the tool atomic, raise \1timeout\2 above the slowest step, or ignore "
	       "what changes without a call.",
	.state_size = sizeof(struct despite),
	.completed = completed,
	.end = end,
};
