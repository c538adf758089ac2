/* Rewards by task, for rules about all rollouts of a task. Uses 56 bytes per task, plus its name
   if a finding is possible. */
#pragma once

#include "base/map.h"
#include "check/check.h"

struct groups {
	struct map by_task;    /* by the hash of the task's id alone */
	struct group_log *log; /* NULL: not kept */
};

struct group_member {
	struct str task;
	int64_t size, sample; /* -1: unknown */
	bool lost;            /* without a session or an end */
	bool open; /* of a tap: its group may go on in another file, although no size is known */
	/* no call was answered, nor a turn: further turns of a log without calls mean that a user,
	   or an environment of text, replied */
	bool is_void;
	bool has_tools; /* it was offered some, or called one */
	bool unlisted;  /* of a trainer's log in a format that has no place for the tools */
	bool rewarded;
	double reward;
	const struct trace *trace; /* its first states; NULL: unknown, or no evidence */
	int64_t seed;
};

/* From now on members are only kept, to add them to other groups: 300 bytes each. */
void groups_keep_log(struct groups *g);

/* Calls `take` for each member in the log, in order. */
void groups_each(const struct groups *g, void (*take)(void *ctx, const struct group_member *m),
                 void *ctx);

/* Adds the members of `other`, which has a log, in their order. */
void groups_absorb(struct groups *g, const struct groups *other);

/* Adds a rollout. Rollouts without a task belong to no group. */
void groups_add(struct groups *g, const struct group_member *m);

/* Passes each complete group to `report`, in the order of tasks, and removes all groups of this
   file; `last`: passes all remaining groups. A group without a size is complete when its file
   ends, unless a member is `open`; one with a size when it has that many rollouts. `carried`: includes rollouts of an
   earlier file. */
void groups_take(struct groups *g, bool last,
                 void (*report)(void *ctx, const struct task_group *t, bool carried), void *ctx);
void groups_release(struct groups *g); /* zeroed is fine */
