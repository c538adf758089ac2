/* Rule void-rollouts: rollouts that never reached the environment set their group's baseline. */
#include "check/rule.h"

/* A tap sees rewards of steps only: a rollout without one has none, until the trainer gives it some. */
static void without_reward(const struct task_group *g, int64_t all, struct findings *out)
{
	int64_t idle = g->voids - g->lost;
	bool nobody = idle == all && !g->acted;

	if (g->open && idle > 0) {
		finding_add(out, nobody ? SEVERITY_ERROR : SEVERITY_WARNING, NULL, "",
		            "%" PRId64 " of %" PRId64 " rollouts of task %s made no call that was "
		            "answered%s: a reward that the trainer gives them is not the "
		            "environment's",
		            idle, all, g->name, nobody ? ", nor did any other" : "");
	}
}

static void group(const struct task_group *g, struct findings *out)
{
	int64_t all = g->count + g->lost;

	if (all < 2 || (g->unlisted && (g->acted || g->voids < all)))
		return;
	if (g->void_rewarded == 0) {
		without_reward(g, all, out);
		return;
	}
	if (g->unlisted) {
		finding_add(out, SEVERITY_ERROR, NULL, "",
		            "none of the %" PRId64
		            " rollouts of task %s called a tool, nor did any "
		            "other, and the log does not say whether tools were offered",
		            all, g->name);
		return;
	}
	finding_add(out, SEVERITY_ERROR, NULL, "",
	            "%" PRId64 " of %" PRId64 " rollouts of task %s never reached the environment, "
	            "and %" PRId64 " of them still set the group's baseline with their reward",
	            g->voids, all, g->name, g->void_rewarded);
}

const struct check check_void_rollouts = {
	.id = "void-rollouts",
	.title = "rollouts that never reached the environment set their group's baseline",
	.severity = SEVERITY_ERROR,
	.lowered = "a tap saw no reward of them, and some rollout made a call",
	.explains = {&check_zero_variance_group},
	.why = "Trainers that compare rewards within the group of a task (GRPO and variants) "
	       "subtract the group's mean. Some rollouts of this group made no call that was "
	       "answered, and still have a reward (of a tap: most trainers give them one). In a log "
	       "that does not list the tools (\1tools\2 does) it is a finding only if nobody called "
	       "one.\n"
	       "Look at their findings: a refused session, a tool never called.\n"
	       "Fix: leave them out of the group, and see that each gets an environment.",
	.needs = FACT(TOTAL_REWARD),
	.group = group,
};
