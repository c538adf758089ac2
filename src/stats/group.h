/* The rewards of one task's samples. The result does not depend on the order in which samples are
   added or partial groups merged: of two samples with the same number the lower reward counts, and
   any before none. */
#ifndef ROLLDBG_STATS_GROUP_H
#define ROLLDBG_STATS_GROUP_H

#include "base/exact.h"
#include "base/mem.h"

/* samples with smaller numbers are identified by them; each of the others counts as new */
#define GROUP_SAMPLES 64

/* Rewards of samples without a number below GROUP_SAMPLES. */
struct group_others {
	struct exact_sum sum, squares;
	double low, high;
};

struct reward_group {
	int64_t size;            /* requested size; 0: unknown */
	uint64_t seen, rewarded; /* bits: the numbers seen; those of them with a reward */
	double *rewards;         /* by sample number; in the arena */
	size_t room;
	int64_t others, others_rewarded;
	struct group_others *other; /* in the arena; NULL: none of the others has a reward */
};

/* Adds a sample; -1: it has no number. reward: NULL if it has none. */
void group_join(struct reward_group *g, struct arena *arena, int64_t sample, const double *reward);

/* Adds the samples of `from`; of two sizes the larger counts. */
void group_merge(struct reward_group *g, struct arena *arena, const struct reward_group *from);

struct group_rewards {
	int64_t samples, rewards;
	double mean, std, low, high; /* std: sample standard deviation, 0 for one reward */
};

struct group_rewards group_sum_up(const struct reward_group *g);

#endif
