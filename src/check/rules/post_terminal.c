/* Rule post-terminal: steps were sent after the end of the episode. */
#include "check/rule.h"

static void line(void *state, const struct rollout_facts *r, const struct derived_line *m)
{
	if (m->is_step)
		span_add(state, m->line->turn, m->line->step);
}

static void end(void *state, const struct rollout_facts *r, struct findings *out)
{
	const struct span *steps = state;

	finding_add(out, SEVERITY_WARNING, steps, "/step",
	            "%" PRId64 " of %" PRId64
	            " steps %s sent after the episode had ended at turn %" PRId64,
	            steps->count, r->steps, steps->count == 1 ? "was" : "were", r->ended_turn);
}

const struct check check_post_terminal = {
	.id = "post-terminal",
	.title = "steps were sent after the episode had ended",
	.severity = SEVERITY_WARNING,
	.why = "A reply reported terminated or truncated, and the client kept stepping. Most "
	       "servers accept that: the state stays the same, the step count grows, and some add "
	       "a reward for each further step, so totals and lengths are wrong. Failed or "
	       "ineffective steps after the end are not a multi-step-illusion, and other rules "
	       "skip them.\n"
	       "Look at whether the client reads the control plane's status after every step, and "
	       "whether the last action of a script is meant to come after the goal.\n"
	       "Fix: stop at the first terminated or truncated.",
	.needs = FACT(TERMINATED),
	.wants = KIND_AFTER_END,
	.state_size = sizeof(struct span),
	.line = line,
	.end = end,
};
