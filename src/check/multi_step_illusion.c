/* Rule multi-step-illusion: many turns of conversation, and the environment never
   did a thing. */
#include "check/streak.h"

#include <inttypes.h>

struct illusion {
	struct span failed;     /* all failed steps of the episode */
	char error[ERROR_TEXT]; /* of the first one */
	struct streak streak;
};

static void past(void *state, const struct rollout_facts *r, const struct past_step *p,
                 struct findings *out)
{
	(void)r, (void)out;
	struct illusion *s = state;
	struct streak ended;
	streak_feed(&s->streak, p, &ended);
	if (!p->failed || p->after_terminal)
		return;
	if (s->failed.count == 0)
		memcpy(s->error, p->error, sizeof(s->error));
	span_add(&s->failed, p->turn, p->step);
}

static void say_all_failed(const struct illusion *s, const struct episode *e,
                           struct findings *out)
{
	if (e->changed > 0)
		finding_say(out, SEVERITY_ERROR, &s->failed, "/outcome",
		            "%" PRId64 " of %" PRId64
		            " steps failed, though the state changed after %" PRId64
		            " of them; first error: %s",
		            e->failed, e->steps, e->changed, s->error);
	else
		finding_say(out, SEVERITY_ERROR, &s->failed, "/outcome",
		            "%" PRId64 " of %" PRId64
		            " steps failed; %s; first error: %s",
		            e->failed, e->steps, streak_state(e->unchanged), s->error);
}

static void end(void *state, const struct rollout_facts *r, const struct moment *m,
                struct findings *out)
{
	(void)m;
	const struct illusion *s = state;
	const struct episode *e = &r->episode;
	if (e->steps >= 2 && e->failed == e->steps)
		say_all_failed(s, e, out);
	else if (s->streak.span.count >= STREAK_LONG)
		finding_say(out, SEVERITY_ERROR, &s->streak.span, "/outcome",
		            "the last %" PRId64 " of %" PRId64
		            " steps failed; %s; first error: %s",
		            s->streak.span.count, e->steps,
		            streak_state(s->streak.unchanged), s->streak.error);
}

const struct check check_multi_step_illusion = {
	.id = "multi-step-illusion",
	.title = "every step failed, or the rollout ends in a run of failed ones",
	.why = "The policy took turn after turn, but the environment refused every "
	       "step, or every step of the last stretch, and its state was never "
	       "seen to change meanwhile. Whatever reward or text came out of this "
	       "rollout says nothing about the policy: count environment steps, not "
	       "turns. Rollouts like this one succeed in fewer than one of a hundred "
	       "cases.\n"
	       "Look at the first error of the run and at error.layer, which tells "
	       "who refused: transport, http and jsonrpc are between you and the "
	       "server; mcp, framework and body are the server or the environment "
	       "behind it. Then look whether other rules fired: capacity, "
	       "session-churn, fallback-session and unknown-tool name the usual "
	       "causes.\n"
	       "Cure the first error, not the last; stop rollouts after some equal "
	       "errors (on_error of a policy); keep such rollouts out of training "
	       "data.",
	.wants = WANT_PAST_FAILED,
	.state_size = sizeof(struct illusion),
	.past = past,
	.end = end,
};
