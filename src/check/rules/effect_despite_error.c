/* Rule effect-despite-error: a step failed but changed the state. */
#include "check/rule.h"

static void end(void *state, const struct rollout_facts *r, struct findings *out)
{
	struct span steps = {.count = 0};
	const char *error = ""; /* of the first such step */

	for (int64_t i = 0; i < r->steps; i++) {
		const struct completed_step *p = &r->completed[i];

		if ((p->failed || p->expected) && !p->outside_episode &&
		    p->effect == EFFECT_CHANGED) {
			error = steps.count ? error : p->error;
			span_add(&steps, p->turn, p->step);
		}
	}
	finding_add(out, SEVERITY_WARNING, &steps, "/outcome",
	            "%" PRId64 " failed step%s changed the state; first error: %s", steps.count,
	            plural(steps.count), error);
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
	.end = end,
};
