/* Rule multi-step-illusion: every step that had to act failed, or the rollout ends in failed steps. */
#include "check/rule.h"
#include "check/streak.h"

struct illusion {
	struct span failed; /* all failed steps of the episode */
	const char *error;  /* of the first one */
	int64_t moved;      /* of these: changed the state all the same */
	int64_t read;       /* other steps of the episode, of read-only tools */
	bool acted;         /* not all failed steps are of read-only tools */
	struct streak streak;
};

static struct illusion look(const struct rollout_facts *r)
{
	struct illusion s = {.error = ""};
	struct streak ended;

	for (int64_t i = 0; i < r->steps; i++) {
		const struct completed_step *p = &r->completed[i];

		streak_add(&s.streak, p, &ended);
		s.read += p->idle && !p->failed && !p->outside_episode;
		if (p->failed && !p->outside_episode) {
			s.error = s.failed.count ? s.error : p->error;
			span_add(&s.failed, p->turn, p->step);
			s.acted = s.acted || !p->idle;
			s.moved += p->effect == EFFECT_CHANGED;
		}
	}
	return s;
}

/* "; besides, requests changes by the same amount at each call (0 -> 1)" */
static void describe_count(const struct rollout_facts *r, char *out, size_t size)
{
	const struct member *m = verdict_aside(r->series);
	char text[128];

	out[0] = '\0';
	if (m) {
		explain_sentence(m, text, sizeof(text));
		snprintf(out, size, " (%s)", text);
	}
}

static void report_all_failed(const struct illusion *s, const struct rollout_facts *r,
                              struct findings *out)
{
	const struct episode_counts *e = &r->episode;
	char aside[160];

	describe_count(r, aside, sizeof(aside));
	finding_add(out, SEVERITY_ERROR, &s->failed, "/outcome",
	            "%" PRId64 " of %" PRId64 " steps failed%s; %s%s; first error: %s", e->failed,
	            e->steps, s->read ? ", and the others only read" : "",
	            e->unchanged > 0 ? "the state never changed"
	            : r->series->any ? "the state shows no change"
	                             : "state unknown",
	            aside, s->error);
}

/* A failed step that changed the state is left to effect-despite-error: a dart that missed. */
static void end(void *state, const struct rollout_facts *r, struct findings *out)
{
	const struct illusion s = look(r);
	const struct episode_counts *e = &r->episode;

	if (drawn_calls_do_not_fit(r))
		return; /* left to drawn-calls */
	if (e->failed >= 2 && e->failed + s.read == e->steps) {
		if (s.moved == 0 && (s.acted || !s.read))
			report_all_failed(&s, r, out);
	} else if (s.streak.span.count >= STREAK_LONG && !r->draws) {
		/* a policy that draws its calls ends anywhere */
		finding_add(out, SEVERITY_ERROR, &s.streak.span, "/outcome",
		            "the last %" PRId64 " of %" PRId64
		            " steps failed%s; %s; first error: %s",
		            s.streak.span.count, e->steps,
		            s.streak.read ? ", but for those that only read" : "",
		            streak_state(s.streak.unchanged), s.streak.error);
	}
}

const struct check check_multi_step_illusion = {
	.id = "multi-step-illusion",
	.title = "every step failed, or the rollout ends in a run of failed steps",
	.severity = SEVERITY_ERROR,
	.why = "The environment refused every step, or every step at the end, and none of them "
	       "changed the state. Reward and text of this rollout say nothing about the policy: "
	       "count environment steps, not turns.\n"
	       "Look at the first error of the run and at error.layer: transport, http and "
	       "jsonrpc are between you and the server; mcp, framework and body are the server "
	       "or the environment behind it. The usual causes are capacity, session-churn, "
	       "fallback-session and unknown-tool.\n"
	       "Fix the first error, not the last, and stop rollouts after several identical "
	       "errors (on_error of a policy).",
	.end = end,
};
