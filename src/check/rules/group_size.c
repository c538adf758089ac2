/* Rule group-size: a task has fewer rollouts than its group needs. */
#include "check/rule.h"

static void group(const struct task_group *g, struct findings *out)
{
	char lost[64] = "";

	if (g->size < 0 || g->count >= g->size)
		return;
	if (g->lost > 0) {
		snprintf(lost, sizeof(lost), "; %" PRId64 " got no session or did not finish",
		         g->lost);
	}
	finding_add(out, SEVERITY_ERROR, NULL, "",
	            "task %s has %" PRId64 " of the %" PRId64 " rollouts of its group%s", g->name,
	            g->count, g->size, lost);
}

const struct check check_group_size = {
	.id = "group-size",
	.title = "a task has fewer rollouts than its group",
	.severity = SEVERITY_ERROR,
	.why = "The recording says how many rollouts of each task form a group (limits.group_size "
	       "in the header), and fewer samples of this task reached an end. Trainers that "
	       "compare rewards within a group (GRPO and variants) wait for the missing ones, fill "
	       "the group with zeros, or divide by the wrong number.\n"
	       "Look at the rollouts of the task that were refused or aborted, and at whether "
	       "`capacity` fired: usually the server allows fewer sessions than the trainer opens. "
	       "Rollouts of one task may be in several files: pass all of them.\n"
	       "Fix: raise the server's session limit, open fewer sessions at once, or run the "
	       "missing samples again.",
	.group = group,
};
