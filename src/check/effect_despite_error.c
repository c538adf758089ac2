/* Rule effect-despite-error: the answer was an error, and it happened all the same. */
#include "check/check.h"

#include <inttypes.h>

struct despite {
	struct span steps;
	char error[ERROR_TEXT]; /* of the first one */
};

static void past(void *state, const struct rollout_facts *r, const struct past_step *p,
                 struct findings *out)
{
	(void)r, (void)out;
	struct despite *s = state;
	if (!(p->failed || p->expected) || p->after_terminal ||
	    p->effect != EFFECT_CHANGED)
		return;
	if (s->steps.count == 0)
		memcpy(s->error, p->error, sizeof(s->error));
	span_add(&s->steps, p->turn, p->step);
}

static void end(void *state, const struct rollout_facts *r, const struct moment *m,
                struct findings *out)
{
	(void)r, (void)m;
	const struct despite *s = state;
	if (s->steps.count > 0)
		finding_say(out, SEVERITY_WARNING, &s->steps, "/outcome",
		            "%" PRId64 " step%s answered as failed changed the state all "
		            "the same; first error: %s",
		            s->steps.count, s->steps.count == 1 ? "" : "s", s->error);
}

const struct check check_effect_despite_error = {
	.id = "effect-despite-error",
	.title = "a step was answered as failed, and the state changed all the same",
	.why = "The policy was told that its step failed, yet the state after it differs "
	       "from the one before. A policy that believes the error repeats itself, "
	       "and what it learns from the reward is wrong.\n"
	       "Look at the outcome and at error.layer: after a timeout or a lost "
	       "connection the server may have gone on alone; a tool may write first "
	       "and fail while it makes its answer; a clock or counter in the state "
	       "moves whatever happens (leave it out with --ignore). When every "
	       "step changes the same place, it is that.\n"
	       "Cure: make the tool all or nothing; raise --timeout above the "
	       "slowest step; ignore what moves by itself.",
	.wants = WANT_PAST_FAILED,
	.state_size = sizeof(struct despite),
	.past = past,
	.end = end,
};
