/* Inside stats/: what is collected for each task, until all its rollouts are known. */
#ifndef ROLLDBG_STATS_TASK_METRICS_H
#define ROLLDBG_STATS_TASK_METRICS_H

#include "base/exact.h"
#include "base/map.h"
#include "stats/group.h"
#include "stats/metrics.h"

/* The doubles of struct ratios, in its order. */
#define RATIO_SUMS 7

struct ratio_sums {
	int64_t tokens, first_tokens;
	struct exact_sum sum[RATIO_SUMS];
};

/* Sums of struct metrics that are not whole numbers. */
enum exact { EXACT_REWARD, EXACT_REWARD_SQUARES, EXACTS };

struct task_metrics {
	struct map_item item;
	struct str id;          /* absent: rollouts without a task */
	struct metrics metrics; /* without what follows, until the task is closed */
	struct exact_sum exact[EXACTS];
	struct ratio_sums *ratios; /* in the arena; NULL: nothing was compared */
	struct reward_group group;
};

/* The metrics of that task; new ones if there are none yet. */
struct stats;
struct task_metrics *stats_task(struct stats *s, struct str id);
struct arena *stats_arena(struct stats *s);
/* All tasks, rollouts without a task first, then by their ids: `count` of them; free() it. */
struct task_metrics **stats_tasks(const struct stats *s, size_t *count);

void ratio_sums_merge(struct ratio_sums *to, const struct ratio_sums *from);

#endif
