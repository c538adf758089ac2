/* Metrics of any number of rollouts: sums that can be merged, and what they say under the
   trainers' own names. */
#ifndef ROLLDBG_STATS_METRICS_H
#define ROLLDBG_STATS_METRICS_H

#include "check/logprobs.h"

enum sum {
	SUM_NONE,
	SUM_ROLLOUTS,
	SUM_TASKS,
	/* how rollouts ended, in the order of metric_statuses */
	SUM_STATUS,
	SUM_STATUS_LAST = SUM_STATUS + 10,
	SUM_LOST,
	SUM_CUT_OFF, /* rollouts, by a limit or the environment */
	SUM_TURNS,
	SUM_STEPS,
	SUM_EFFECTIVE,
	SUM_JUDGED, /* rollouts some of whose steps' effects are known */
	SUM_FAILED,
	SUM_USED_TOOLS, /* rollouts */
	SUM_CALLS,      /* sent or not */
	SUM_CALLS_FAILED,
	SUM_CALLS_RETURNED_ERROR, /* an error inside of a reply that is a success */
	SUM_CALLS_CHECKED,        /* against what the tools advertise */
	SUM_CALLS_FIT,
	SUM_REPLIES, /* of a model */
	SUM_CLIPPED,
	SUM_NATIVE,
	SUM_TEXT,
	SUM_NO_CALL,
	SUM_REPAIRS,
	SUM_USAGES, /* replies that say how many tokens they took */
	SUM_PROMPT_TOKENS,
	SUM_COMPLETION_TOKENS,
	SUM_LOGPROBS,       /* tokens that have one */
	SUM_LOGPROB_TURNS,  /* turns that have some */
	SUM_LOGPROBS_BAD,   /* tokens: none, or above zero */
	SUM_LOGPROBS_ZEROS, /* turns that are all zeros */
	SUM_K1,
	SUM_K3,
	SUM_COMPARED, /* tokens, with a trainer's */
	SUM_UNEVEN,   /* turns whose partner has another number of tokens */
	SUM_TEMPERED, /* rollouts whose log-probabilities cannot be compared */
	SUM_REWARDS,  /* rollouts that have one */
	SUM_REWARD,
	SUM_REWARD_POSITIVE,
	SUM_UNREWARDED, /* rollouts that reached an end without one */
	/* groups: tasks with two rewards or more */
	SUM_GROUPS,
	SUM_GROUP_SAMPLES,
	SUM_GROUP_STD,
	SUM_ZERO_STD_SAMPLES,
	SUM_SOLVED_NONE,
	SUM_SOLVED_ALL,
	SUM_SOLVED_SOME,
	SUM_ALONE,        /* tasks with one reward */
	SUM_NOT_FINITE,   /* groups */
	SUM_SIZED_GROUPS, /* those of a known size */
	SUM_FULL_GROUPS,
	SUMS
};

enum extreme { EXTREME_TURNS, EXTREME_REWARD, EXTREME_ADVANTAGE, EXTREMES };

struct metrics {
	double sum[SUMS];
	double low[EXTREMES], high[EXTREMES];
	bool known[EXTREMES];
	struct ratios ratios; /* to a trainer's log-probabilities */
};

extern const char *const metric_statuses[SUM_STATUS_LAST - SUM_STATUS + 1];

void metrics_extreme(struct metrics *m, enum extreme e, double value);
void metrics_merge(struct metrics *m, const struct metrics *other);

/* What is said of them. */
enum metric_kind {
	METRIC_COUNT, /* sum[over] */
	METRIC_KNOWN, /* sum[over], null where sum[under] is 0 */
	METRIC_MEAN,  /* sum[over] / sum[under], null as above */
	METRIC_LOW,   /* low[over] */
	METRIC_HIGH,
};

struct metric {
	const char *name, *meaning;
	enum metric_kind kind;
	int over, under;
	bool detail; /* people need not see it while it is 0 */
};

extern const struct metric metric_table[];
extern const size_t metric_count;

/* False: it is not known. */
bool metric_value(const struct metric *row, const struct metrics *m, double *value);

#endif
