/* Private to stats/: the data collected for each task until all its rollouts are known. */
#pragma once

#include "base/exact.h"
#include "base/map.h"
#include "base/mem.h"
#include "stats/metrics.h"

/* ---- the rewards of one task's samples ---- */

/* The result does not depend on the order in which samples are added or partial groups merged: of two
   samples with the same number the lower reward counts, and any before none. */

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

/* ---- a task ---- */

/* The number of doubles in struct ratios; sums are in the same order. */
#define RATIO_SUMS 7

struct ratio_sums {
	int64_t tokens, first_tokens;
	struct exact_sum sum[RATIO_SUMS];
};

/* Sums of struct metrics that are not integers. */
enum exact { EXACT_REWARD, EXACT_REWARD_SQUARES, EXACTS };

struct task_metrics {
	struct map_item item;
	struct str id;          /* absent for rollouts without a task */
	struct metrics metrics; /* without the members below, until the task is closed */
	struct exact_sum exact[EXACTS];
	struct ratio_sums *ratios; /* in the arena; NULL: no log-probabilities were compared */
	struct reward_group group;
};

/* Returns the metrics of that task, created on first use. */
struct stats;
struct task_metrics *stats_task(struct stats *s, struct str id);
struct arena *stats_arena(struct stats *s);
/* Returns all tasks, first the rollouts without a task, then by id: an array of *count pointers,
   to be freed by the caller. */
struct task_metrics **stats_tasks(const struct stats *s, size_t *count);

void ratio_sums_merge(struct ratio_sums *to, const struct ratio_sums *from);
