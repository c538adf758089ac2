/* Rule zero-variance-group: all rollouts of a task have the same reward. */
#include "check/rule.h"

static void group(const struct task_group *g, struct findings *out)
{
	char all[32];

	if (g->rewarded < 2 || g->rewarded < g->count || g->rewards_differ)
		return;
	if (g->rewarded == 2)
		snprintf(all, sizeof(all), "both");
	else
		snprintf(all, sizeof(all), "all %" PRId64, g->rewarded);
	finding_add(out, SEVERITY_WARNING, NULL, "",
	            "%s rollouts of task %s earned %.15g, so every advantage is zero", all, g->name,
	            g->reward);
}

const struct check check_zero_variance_group = {
	.id = "zero-variance-group",
	.title = "all rollouts of a task have the same reward",
	.severity = SEVERITY_WARNING,
	.why = "Trainers that compare rewards within the group of one task (GRPO and variants) "
	       "learn only from differences: with equal rewards every advantage is zero, and the "
	       "group taught nothing. A few such groups are normal; many of them mean that the "
	       "reward carries no information.\n"
	       "Look at how many tasks are like this one, and whether the rollouts differ: "
	       "identical actions suggest a temperature of 0 or a shared seed, no effective "
	       "steps a frozen environment, the same reward everywhere a default value.\n"
	       "Fix: choose tasks of the right difficulty, correct the reward, or sample with a "
	       "temperature.",
	.needs = FACT(TOTAL_REWARD),
	.group = group,
};
