/* Rule post-terminal: steps were sent after the environment had said the episode
   is over. */
#include "check/check.h"

#include <inttypes.h>

static void line(void *state, const struct rollout_facts *r, const struct moment *m,
                 struct findings *out)
{
	(void)r, (void)out;
	if (m->is_step)
		span_add(state, m->line->turn, m->line->step);
}

static void end(void *state, const struct rollout_facts *r, const struct moment *m,
                struct findings *out)
{
	(void)m;
	const struct span *steps = state;
	if (steps->count > 0)
		finding_say(out, SEVERITY_WARNING, steps, "/step",
		            "%" PRId64 " of %" PRId64
		            " steps were sent after the environment had ended the "
		            "episode at turn %" PRId64,
		            steps->count, r->steps, r->ended_turn);
}

const struct check check_post_terminal = {
	.id = "post-terminal",
	.title = "steps were sent after the episode had ended",
	.why = "A reply said terminated or truncated, and the client went on "
	       "stepping. Most servers do not refuse that: the state stays, the step "
	       "count grows, and some add a reward for each further step, so totals "
	       "and lengths are wrong. Failed or ineffective steps after the end are "
	       "not an illusion, and other rules leave them out.\n"
	       "Look whether the client reads the control plane's status after every "
	       "step, and whether the last action of a script is meant to come after "
	       "the goal.\n"
	       "Cure: stop at the first terminated or truncated.",
	.wants = WANT_LATE,
	.state_size = sizeof(struct span),
	.line = line,
	.end = end,
};
