/* Rule zero-variance-group: all rollouts of a task earned the same. */
#include "check/check.h"

#include <inttypes.h>

static void group(const struct task_group *g, struct findings *out)
{
	if (g->rewarded < 2 || g->rewarded < g->count || g->rewards_differ)
		return;
	finding_say(out, SEVERITY_WARNING, NULL, "",
	            "all %" PRId64 " rollouts of task %s have the reward %.15g: the "
	            "group has no advantage to learn from",
	            g->rewarded, g->name, g->reward);
}

const struct check check_zero_variance_group = {
	.id = "zero-variance-group",
	.title = "all rollouts of a task have the same reward",
	.why = "Trainers that compare rewards within the group of one task (GRPO and "
	       "its kin) learn from the differences only. When every sample earned "
	       "the same, the advantage is zero, and the group cost time for nothing. "
	       "A few such groups are normal, too easy or too hard; many of them "
	       "mean that the reward says nothing.\n"
	       "Look at how many tasks are like this one, and whether the rollouts "
	       "really differ: the same actions in each point to a temperature of 0 "
	       "or a shared seed, no effective step to an environment that never "
	       "moved, and a reward that is the same everywhere to a default.\n"
	       "Cure: choose tasks of the right difficulty, mend the reward, sample "
	       "with a temperature.",
	.group = group,
};
