/* Rule terminated-at-reset: the episode was over before its first step. */
#include "check/rule.h"

struct at_reset {
	bool terminated, truncated;
	bool continues; /* the first step reported that the episode is not over */
};

static void line(void *state, const struct rollout_facts *r, const struct derived_line *m)
{
	struct at_reset *s = state;

	if (m->line->type == LINE_RESET) {
		s->terminated = m->line->terminated == 1;
		s->truncated = m->line->truncated == 1;
	} else {
		s->continues = m->line->terminated == 0 && m->line->truncated != 1;
	}
}

static void end(void *state, const struct rollout_facts *r, struct findings *out)
{
	const struct at_reset *s = state;

	if (!s->terminated && !s->truncated)
		return;
	finding_add(out, s->continues ? SEVERITY_WARNING : SEVERITY_ERROR, NULL,
	            s->terminated ? "/terminated" : "/truncated",
	            "the environment reported %s before the first step%s",
	            end_status_name(s->terminated ? END_TERMINATED : END_TRUNCATED),
	            s->continues ? ", but not after it" : "");
}

const struct check check_terminated_at_reset = {
	.id = "terminated-at-reset",
	.title = "the episode was already over before its first step",
	.severity = SEVERITY_ERROR,
	.lowered = "the first step's reply said not terminated",
	.explains = {&check_post_terminal, &check_frozen_state, &check_no_effect,
                     &check_one_step_episode, &check_multi_step_illusion, &check_all_steps_failed,
                     &check_failed_run, &check_retry_same_error},
	.why = "The reset, or the status read before the first call, reported that the episode had "
	       "terminated or was truncated. A trainer that trusts it discards the rollout; one "
	       "that ignores it collects steps of an episode that is over.\n"
	       "Look at the reset line and at the status of the first step: an environment shared "
	       "by sessions keeps the end of the previous episode, others compute `done` from a "
	       "state that reset has not filled in yet.\n"
	       "Fix: reset all of the state, `done` included; create one environment per session.",
	.needs = FACT(TERMINATED),
	.wants = KIND_RESET | KIND_FIRST,
	.state_size = sizeof(struct at_reset),
	.line = line,
	.end = end,
};
