/* Rewards by task, for rules that judge the rollouts of a task together: 56 bytes a task,
   and its name where there may be something to say. */
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
	bool lost;            /* it got no session, or no end */
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

/* Hands out each group that is done, in the order of their tasks, and forgets all that
   came from this file alone; `last`: every group that is left. Groups without a size end
   with their file; those with one when as many rollouts have come. `carried`: rollouts of
   an earlier file are among them. */
void groups_take(struct groups *g, bool last,
                 void (*say)(void *ctx, const struct task_group *t, bool carried), void *ctx);
void groups_release(struct groups *g); /* zeroed is fine */

#endif
