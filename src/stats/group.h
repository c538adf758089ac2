/* The rewards of one task's samples: what they are does not depend on the order in which partial
   groups are put together, except that of two samples with one number the first counts. */
#ifndef ROLLDBG_STATS_GROUP_H
#define ROLLDBG_STATS_GROUP_H

#include "base/exact.h"
#include "base/mem.h"

#define GROUP_SAMPLES 64 /* smaller numbers are told apart; the others count as new each time */

/* Rewards of samples that have no number below GROUP_SAMPLES. */
struct group_others {
	struct exact_sum sum, squares;
	double low, high;
};

struct reward_group {
	int64_t size;            /* requested; 0: unknown */
	uint64_t seen, rewarded; /* the numbers that came; those with a reward */
	double *rewards;         /* by number; in the arena */
	size_t room;
	int64_t others, others_rewarded;
	struct group_others *other; /* in the arena; NULL: none has a reward */
};

/* Adds a sample; -1: it has no number. reward: NULL if it has none. */
void group_join(struct reward_group *g, struct arena *arena, int64_t sample, const double *reward);

/* Adds the samples of `from`, which came later. */
void group_merge(struct reward_group *g, struct arena *arena, const struct reward_group *from);

struct group_rewards {
	int64_t samples, rewards;
	double mean, std, low, high; /* std: of a sample, 0 for one reward */
};

struct group_rewards group_sum_up(const struct reward_group *g);

#endif
