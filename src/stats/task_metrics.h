/* Private to stats/: the data collected for each task until all its rollouts are known. */
#pragma once

#include "base/exact.h"
#include "base/map.h"
#include "base/mem.h"
#include "stats/metrics.h"

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
};

/* Returns the metrics of that task, created on first use. */
struct stats;
struct task_metrics *stats_task(struct stats *s, struct str id);
struct arena *stats_arena(struct stats *s);
/* Returns all tasks, first the rollouts without a task, then by id: an array of *count pointers,
   to be freed by the caller. */
struct task_metrics **stats_tasks(const struct stats *s, size_t *count);

void ratio_sums_merge(struct ratio_sums *to, const struct ratio_sums *from);
