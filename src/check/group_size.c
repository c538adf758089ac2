/* Rule group-size: a task has fewer rollouts than its group needs. */
#include "check/check.h"

#include <inttypes.h>
#include <stdio.h>

static void group(const struct task_group *g, struct findings *out)
{
	char lost[64] = "";
	if (g->size < 0 || g->count >= g->size)
		return;
	if (g->lost > 0)
		snprintf(lost, sizeof(lost),
		         "; %" PRId64 " got no session or did not reach an end", g->lost);
	finding_say(out, SEVERITY_ERROR, NULL, "",
	            "task %s has %" PRId64 " of the %" PRId64 " rollouts of its group%s",
	            g->name, g->count, g->size, lost);
}

const struct check check_group_size = {
	.id = "group-size",
	.title = "a task has fewer rollouts than its group",
	.why = "The recording says how many rollouts of each task make a group "
	       "(limits.group_size in the header), and fewer than that many samples "
	       "of this task reached an end. Trainers that compare the rewards within "
	       "a group (GRPO and its kin) wait for the missing ones, fill the group "
	       "up with zeros, or divide by the wrong number.\n"
	       "Look at the rollouts of the task that were refused or broke off, and "
	       "whether `capacity` fired: a server that has room for fewer sessions "
	       "than the trainer opens is the usual cause. Rollouts of one task "
	       "may stand in several files: name all of them.\n"
	       "Cure: raise the server's limit of sessions, open fewer at once, or "
	       "run the missing samples again.",
	.group = group,
};
