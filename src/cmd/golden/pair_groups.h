/* The rollouts of two recordings in groups, so that each thread compares one group at a time. */
#ifndef ROLLDBG_CMD_GOLDEN_PAIR_GROUPS_H
#define ROLLDBG_CMD_GOLDEN_PAIR_GROUPS_H

#include "recording/by_rollout.h"

/* Rollouts of both recordings with consecutive ids: indexes in each, from `first` up to but not
   including `end`. */
struct pair_group {
	size_t first[2], end[2];
	uint64_t bytes; /* of both sides */
};

/* Order of the next rollout's ids: < 0 if a's comes first, > 0 if b's does, 0 if they are equal. */
int pair_order(const struct by_rollout *a, const struct by_rollout *b);

/* Groups all rollouts not read yet, and skips them in a and b. Groups are about 1 MiB; all rollouts
   of one id are in one group, because they share a heading. The caller frees the array. */
struct pair_group *pair_groups_new(struct by_rollout *a, struct by_rollout *b, size_t *count);

#endif
