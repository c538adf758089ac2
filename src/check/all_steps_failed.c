/* Rule all-steps-failed: there was one step, and it failed. */
#include "check/check.h"

struct first_step {
	struct span span;
	char error[ERROR_TEXT];
};

static void past(void *state, const struct rollout_facts *r, const struct past_step *p,
                 struct findings *out)
{
	(void)r, (void)out;
	struct first_step *s = state;
	if (s->span.count > 0 || !p->failed)
		return;
	span_add(&s->span, p->turn, p->step);
	memcpy(s->error, p->error, sizeof(s->error));
}

static void end(void *state, const struct rollout_facts *r, const struct moment *m,
                struct findings *out)
{
	(void)m;
	const struct first_step *s = state;
	if (r->episode.steps == 1 && r->episode.failed == 1)
		finding_say(out, SEVERITY_ERROR, &s->span, "/outcome",
		            "the only step failed: %s", s->error);
}

const struct check check_all_steps_failed = {
	.id = "all-steps-failed",
	.title = "the rollout's only step failed",
	.why = "The environment was asked to do one thing and refused. Nothing "
	       "happened in this rollout, whatever its reward says. (Longer rollouts "
	       "in which every step failed are a multi-step-illusion.)\n"
	       "Look at the error and its layer, and at what the call sent: the "
	       "tool's name and its arguments against the schema in the header's "
	       "tools.\n"
	       "Cure what the error names. When many rollouts of a batch look like "
	       "this one, the environment or the way to it is broken, not the "
	       "policy.",
	.wants = WANT_PAST_FAILED,
	.state_size = sizeof(struct first_step),
	.past = past,
	.end = end,
};
