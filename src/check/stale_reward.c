/* Rule stale-reward: a failed step shows the reward of the step before it again. */
#include "check/check.h"

#include <inttypes.h>

#define NUMBER_MAX 40

struct stale {
	char last[NUMBER_MAX]; /* the newest reward, as spelled */
	size_t last_n;         /* 0: none yet */
	struct span steps;
	char reward[NUMBER_MAX]; /* the first repeated one */
};

static bool repeats(const struct stale *s, struct str reward)
{
	double now, before;
	return json_double(reward, &now) &&
	       json_double((struct str){s->last, s->last_n}, &before) && now == before &&
	       now != 0;
}

static void line(void *state, const struct rollout_facts *r, const struct moment *m,
                 struct findings *out)
{
	(void)r, (void)out;
	struct stale *s = state;
	struct str reward = m->line->value[KEY_REWARD];
	if (!line_has(m->line, KEY_REWARD) || reward.n >= NUMBER_MAX)
		return;
	if (m->failed && s->last_n > 0 && repeats(s, reward)) {
		if (s->steps.count == 0)
			memcpy(s->reward, reward.p, reward.n);
		span_add(&s->steps, m->line->turn, m->line->step);
	}
	memcpy(s->last, reward.p, reward.n);
	s->last_n = reward.n;
}

static void end(void *state, const struct rollout_facts *r, const struct moment *m,
                struct findings *out)
{
	(void)r, (void)m;
	const struct stale *s = state;
	if (s->steps.count > 0)
		finding_say(out, SEVERITY_WARNING, &s->steps, "/reward",
		            "%" PRId64 " failed step%s reported the reward of an earlier "
		            "step again, first %s",
		            s->steps.count, s->steps.count == 1 ? "" : "s", s->reward);
}

const struct check check_stale_reward = {
	.id = "stale-reward",
	.title = "a failed step repeated the reward of an earlier one",
	.why = "After a failed step the environment reported a reward other than "
	       "zero, and the same one as before. Control planes keep the last "
	       "reward until the next good step, so a client that adds up what it "
	       "reads counts it again with every failure.\n"
	       "Compare the sum of the rewards with the environment's own total "
	       "(total_reward in `end`, where the control plane tells it) and with "
	       "the number of steps the environment counted.\n"
	       "Cure: take no reward from a step whose outcome is not ok; on the "
	       "server, clear the reward when a step fails.",
	.wants = WANT_OK | WANT_FAILED,
	.state_size = sizeof(struct stale),
	.line = line,
	.end = end,
};
