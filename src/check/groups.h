/* Rewards by task, for rules that judge the rollouts of one task together. Needs 56 bytes per
   task, plus its name if a finding may be needed. */
#ifndef ROLLDBG_CHECK_GROUPS_H
#define ROLLDBG_CHECK_GROUPS_H

#include "base/map.h"
#include "check/check.h"

struct groups {
	struct map by_task;    /* by the hash of the task's id alone */
	struct group_log *log; /* NULL: not kept */
};

struct group_member {
	struct str task;
	int64_t size, sample; /* -1: not known */
	bool lost;            /* it got no session, or has no end */
	bool rewarded;
	double reward;
	const struct trace
		*trace; /* how it began, with that seed; NULL: not known, or no evidence */
	int64_t seed;
};

/* From now on members are kept, to be added to other groups: the first GROUP_LOG_MAX. */
#define GROUP_LOG_MAX 4096
void groups_keep_log(struct groups *g);

/* Can `other`, which keeps a log and was never taken from, be added? No: the log is not whole, and
   a group of ours goes on in it. */
bool groups_can_absorb(const struct groups *g, const struct groups *other);
/* Adds its members in their order; empties it. */
void groups_absorb(struct groups *g, struct groups *other);

/* Rollouts without a task belong to no group. */
void groups_add(struct groups *g, const struct group_member *m);

/* Passes on each group that is complete, in the order of their tasks, and forgets all groups of
   this file; `last`: every group that is left. A group without a size is complete when its file
   ends; one with a size when that many rollouts have come. `carried`: rollouts of an earlier
   file are included. */
void groups_take(struct groups *g, bool last,
                 void (*say)(void *ctx, const struct task_group *t, bool carried), void *ctx);
void groups_release(struct groups *g); /* zeroed is fine */

#endif
