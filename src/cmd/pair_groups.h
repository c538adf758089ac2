/* The rollouts of two recordings in groups, for threads that compare one group each. */
#ifndef ROLLDBG_CMD_PAIR_GROUPS_H
#define ROLLDBG_CMD_PAIR_GROUPS_H

#include "trajectory/by_rollout.h"

/* Rollouts of both recordings whose ids follow each other: their places in each, from `first` up to
   but not including `behind`. */
struct pair_group {
	size_t first[2], behind[2];
	uint64_t bytes; /* of both */
};

/* Which rollout comes next in the order of the ids? Below 0: that of a; above 0: that of b; 0: both
   have it. */
int pair_order(const struct by_rollout *a, const struct by_rollout *b);

/* Groups all rollouts that have not been read yet, which are passed over: about 1 MiB each, and all
   rollouts of one id in one group, since they share a heading. The caller frees the array. */
struct pair_group *pair_groups_new(struct by_rollout *a, struct by_rollout *b, size_t *count);

#endif
