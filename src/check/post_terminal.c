/* Rule post-terminal: steps were sent after the environment had said the episode
   is over. */
#include "check/check.h"

#include <inttypes.h>

struct after_end {
	struct span steps;
	int64_t ended_turn;
};

static void line(void *state, const struct rollout_facts *r, const struct moment *m,
                 struct findings *out)
{
	(void)r, (void)out;
	struct after_end *s = state;
	const struct line *l = m->line;
	if (m->after_terminal) {
		if (m->is_step)
			span_add(&s->steps, l->turn, l->step);
	} else if (l->terminated == 1 || l->truncated == 1) {
		s->ended_turn = l->turn;
	}
}

static void end(void *state, const struct rollout_facts *r, const struct moment *m,
                struct findings *out)
{
	(void)m;
	const struct after_end *s = state;
	if (s->steps.count > 0)
		finding_say(out, SEVERITY_WARNING, &s->steps, "/step",
		            "%" PRId64 " of %" PRId64
		            " steps were sent after the environment had ended the "
		            "episode at turn %" PRId64,
		            s->steps.count, r->steps, s->ended_turn);
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
	.wants = WANT_OK | WANT_FAILED | WANT_TURN,
	.state_size = sizeof(struct after_end),
	.line = line,
	.end = end,
};
