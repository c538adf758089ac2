/* Rule stale-reward: a failed step repeats the reward of an earlier step. */
#include "check/rule.h"

struct stale {
	struct span steps;
	char reward[40]; /* the first repeated reward, as spelled */
};

static void line(void *state, const struct rollout_facts *r, const struct derived_line *m)
{
	struct stale *s = state;

	if (!r->previous.reward_seen || m->reward == 0 || m->reward != r->previous.reward)
		return;
	if (s->steps.count == 0)
		peer_text(r->work, m->line->value[KEY_REWARD], s->reward, sizeof(s->reward));
	span_add(&s->steps, m->line->turn, m->line->step);
}

static void end(void *state, const struct rollout_facts *r, struct findings *out)
{
	const struct stale *s = state;

	finding_add(out, SEVERITY_WARNING, &s->steps, "/reward",
	            "%" PRId64 " failed step%s repeated an earlier reward (first: %s)",
	            s->steps.count, plural(s->steps.count), s->reward);
}

const struct check check_stale_reward = {
	.id = "stale-reward",
	.title = "a failed step repeated the reward of an earlier step",
	.severity = SEVERITY_WARNING,
	.why = "After a failed step the environment reported a nonzero reward equal to the "
	       "previous one. Control planes keep the last reward until the next successful step, "
	       "so a client that sums what it reads counts it again with every failure.\n"
	       "Compare the sum of the rewards with the environment's own total (total_reward in "
	       "`end`, if the control plane reports it) and with the environment's step count.\n"
	       "Fix: take no reward from a step whose outcome is not ok; on the server, clear the "
	       "reward when a step fails.",
	.needs = FACT(REWARD),
	.wants = KIND_FAILED,
	.state_size = sizeof(struct stale),
	.line = line,
	.end = end,
};
