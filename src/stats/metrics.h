/* Metrics of any number of rollouts: sums that can be merged, and the metrics computed from them
   under the trainers' names. */
#pragma once

#include "evidence/attribution.h"
#include "recording/logprobs.h"
#include "recording/words.h"

enum sum {
	SUM_NONE,
	SUM_ROLLOUTS,
	SUM_TASKS,
	SUM_STATUS, /* rollouts by end status: one for each enum end_status */
	SUM_STATUS_LAST = SUM_STATUS + END_STATUSES - 1,
	SUM_LOST,
	SUM_FAILURE, /* failed and void rollouts: one for each enum failure_cause */
	SUM_FAILURE_LAST = SUM_FAILURE + FAILURE_CAUSES - 1,
	SUM_ENVIRONMENT_FAILURES,
	SUM_NO_REWARD, /* rewards that are none */
	SUM_CUT_OFF,   /* rollouts truncated by a limit or the environment */
	SUM_TURNS,
	SUM_TURN_SQUARES, /* sum of the squares per rollout */
	SUM_STEPS,
	SUM_STEP_SQUARES,
	SUM_EFFECTIVE,
	SUM_JUDGED, /* rollouts with at least one step of known effect */
	SUM_FAILED,
	SUM_USED_TOOLS, /* rollouts that called a tool */
	SUM_CALLS,      /* calls that could be parsed, sent or not */
	SUM_CALLS_UNPARSED,
	SUM_CALLS_FAILED,
	SUM_CALLS_RETURNED_ERROR, /* calls with a successful reply whose content is an error */
	SUM_CALLS_CHECKED,        /* calls checked against the advertised schemas */
	SUM_CALLS_FIT,
	SUM_COMPLETIONS, /* rollouts with a model's reply */
	SUM_CLIPPED,     /* of these, those whose last reply ended at its token limit */
	SUM_NATIVE,
	SUM_TEXT,
	SUM_NO_CALL,
	SUM_REPAIRS,
	SUM_USAGES, /* replies that report token counts */
	SUM_PROMPT_TOKENS,
	SUM_COMPLETION_TOKENS,
	SUM_LOGPROBS,       /* tokens with a log-probability */
	SUM_LOGPROB_TURNS,  /* turns with log-probabilities */
	SUM_LOGPROBS_BAD,   /* tokens whose log-probability is missing or above zero */
	SUM_LOGPROBS_ZEROS, /* turns with only zeros */
	SUM_K1,
	SUM_K3,
	SUM_COMPARED, /* tokens compared with a trainer's */
	SUM_UNEVEN,   /* turns in which the trainer scored a different number of tokens */
	SUM_TEMPERED, /* rollouts whose log-probabilities cannot be compared */
	SUM_REWARDS,  /* rollouts with a reward */
	SUM_REWARD,
	SUM_REWARD_SQUARES,
	SUM_REWARD_POSITIVE,
	SUM_UNREWARDED, /* rollouts that reached an end without a reward */
	/* groups: tasks with at least two rewards */
	SUM_GROUPS,
	SUM_GROUP_SAMPLES,
	SUM_ZERO_STD_SAMPLES,
	SUM_SOLVED_NONE,
	SUM_SOLVED_ALL,
	SUM_SOLVED_SOME,
	SUM_NOT_FINITE,   /* groups */
	SUM_SIZED_GROUPS, /* groups of known size */
	SUM_FULL_GROUPS,
	SUMS
};

/* EXTREME_GROUP_SIZE: the requested size of a task's group */
enum extreme { EXTREME_TURNS, EXTREME_REWARD, EXTREME_GROUP_SIZE, EXTREME_ADVANTAGE, EXTREMES };

/* The mean of numbers, and the sum of the squared distances from it. */
struct spread {
	double count, mean, squares;
};

struct metrics {
	double sum[SUMS];
	struct spread rewards; /* computed at the end, not merged */
	double low[EXTREMES], high[EXTREMES];
	bool known[EXTREMES];
	struct ratios ratios; /* of the comparison with a trainer's log-probabilities */
};

void metrics_extreme(struct metrics *m, enum extreme e, double value);
void metrics_merge(struct metrics *m, const struct metrics *other);

/* How a metric is computed. */
enum metric_kind {
	METRIC_COUNT, /* sum[numerator] */
	METRIC_KNOWN, /* sum[numerator], null if sum[denominator] is 0 */
	METRIC_MEAN,  /* sum[numerator] / sum[denominator], null as above */
	METRIC_RATE,  /* the same, but 0 if sum[denominator] is 0 and there are rollouts */
	METRIC_STD,   /* of the rewards; null for fewer than two */
	METRIC_LOW,   /* low[numerator] */
	METRIC_HIGH,
};

struct metric {
	const char *name, *meaning;
	enum metric_kind kind;
	int numerator, denominator;
	bool detail; /* not shown to people while it is 0 */
};

/* The trainer whose metric names are printed. */
enum metric_names { NAMES_TRL, NAMES_VERL };
/* row->name if that trainer has no other name for the metric. */
const char *metric_name(const struct metric *row, enum metric_names names);

extern const struct metric metric_table[];
extern const size_t metric_count;

/* False if the value is unknown. */
bool metric_value(const struct metric *row, const struct metrics *m, double *value);
