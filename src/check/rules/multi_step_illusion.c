/* Rule multi-step-illusion: every step failed, or the rollout ends in failed steps. */
#include "check/check.h"

#include "facts/streak.h"

#include <inttypes.h>

struct illusion {
	struct span failed;     /* all failed steps of the episode */
	char error[ERROR_TEXT]; /* of the first one */
	/* steps whose content alone indicates a failure, but whose state changed */
	int64_t refuted;
	struct streak streak;
};

static void completed(void *state, const struct rollout_facts *r, const struct completed_step *p,
                      struct findings *out)
{
	(void)r, (void)out;
	struct illusion *s = state;
	struct streak ended;
	streak_add(&s->streak, p, &ended);
	if (!p->failed || p->outside_episode) {
		return;
	}
	if (s->failed.count == 0) {
		memcpy(s->error, p->error, sizeof(s->error));
	}
	span_add(&s->failed, p->turn, p->step);
	s->refuted += p->by_content && p->effect == EFFECT_CHANGED;
}

static void report_all_failed(const struct illusion *s, const struct episode_counts *e,
                              struct findings *out)
{
	if (e->changed > 0) {
		finding_add(out, SEVERITY_ERROR, &s->failed, "/outcome",
		            "%" PRId64 " of %" PRId64 " steps failed, although the state "
		            "changed after %" PRId64 " of them; first error: %s",
		            e->failed, e->steps, e->changed, s->error);
	} else {
		finding_add(out, SEVERITY_ERROR, &s->failed, "/outcome",
		            "%" PRId64 " of %" PRId64 " steps failed; %s; first error: %s",
		            e->failed, e->steps,
		            e->unchanged > 0 ? "the state never changed" : "state unknown",
		            s->error);
	}
}

static void end(void *state, const struct rollout_facts *r, const struct derived_line *m,
                struct findings *out)
{
	(void)m;
	const struct illusion *s = state;
	const struct episode_counts *e = &r->episode;
	if (s->refuted > 0 && s->refuted == s->failed.count) {
		return; /* left to effect-despite-error: for example a dart that missed */
	}
	if (drawn_calls_do_not_fit(r)) {
		return; /* left to drawn-calls */
	}
	if (e->steps >= 2 && e->failed == e->steps) {
		report_all_failed(s, e, out);
	} else if (s->streak.span.count >= STREAK_LONG) {
		finding_add(out, SEVERITY_ERROR, &s->streak.span, "/outcome",
		            "the last %" PRId64 " of %" PRId64 " steps failed; %s; first error: %s",
		            s->streak.span.count, e->steps, streak_state(s->streak.unchanged),
		            s->streak.error);
	}
}

const struct check check_multi_step_illusion = {
	.id = "multi-step-illusion",
	.title = "every step failed, or the rollout ends in a run of failed steps",
	.severity = SEVERITY_ERROR,
	.why = "The policy took turn after turn, but the environment refused every step, or "
	       "every step at the end. Usually the state never changed either; if it did, the "
	       "finding says so. Whatever reward or text this rollout produced says nothing about "
	       "the policy: count environment steps, not turns. In 9,435 public episodes fewer "
	       "than one in a hundred such rollouts succeeded.\n"
	       "If every reply reports its refusal only in its content (success: false), and "
	       "every step changed the state, the refusal is the outcome of an action, not an "
	       "illusion; effect-despite-error warns about it.\n"
	       "Look at the first error of the run and at error.layer, which names the component "
	       "that refused: transport, http and jsonrpc are between you and the server; mcp, "
	       "framework and body are the server or the environment behind it. Then check which "
	       "other rules fired: capacity, session-churn, fallback-session and unknown-tool "
	       "name the usual causes.\n"
	       "Fix the first error, not the last; stop rollouts after several identical errors "
	       "(on_error of a policy); keep such rollouts out of training data.",
	.wants = KIND_COMPLETED_FAILED,
	.state_size = sizeof(struct illusion),
	.completed = completed,
	.end = end,
};
