/* Sums of metrics, and the table of metrics computed from them: see metrics.h. */
#include "stats/metrics.h"

#include <math.h>

void metrics_extreme(struct metrics *m, enum extreme e, double value)
{
	value += 0.0; /* never -0 */
	if (!m->known[e] || value < m->low[e])
		m->low[e] = value;
	if (!m->known[e] || value > m->high[e])
		m->high[e] = value;
	m->known[e] = true;
}

void metrics_merge(struct metrics *m, const struct metrics *other)
{
	for (size_t i = 0; i < SUMS; i++)
		m->sum[i] += other->sum[i];
	for (size_t i = 0; i < EXTREMES; i++) {
		if (!other->known[i])
			continue;
		metrics_extreme(m, (enum extreme)i, other->low[i]);
		metrics_extreme(m, (enum extreme)i, other->high[i]);
	}
	ratios_merge(&m->ratios, &other->ratios);
}

#define COUNT(numerator)             METRIC_COUNT, numerator, SUM_NONE
#define MEAN(numerator, denominator) METRIC_MEAN, numerator, denominator
#define RATE(numerator, denominator) METRIC_RATE, numerator, denominator
#define STOPPED(place, name)                                                                       \
	{"stop_condition/" name, "Rollouts that ended as " name ".", COUNT(SUM_STATUS + (place)),  \
	 true}

const struct metric metric_table[] = {
	{"rollouts", "Number of rollouts.", COUNT(SUM_ROLLOUTS), false},
	{"tasks", "Number of different tasks.", COUNT(SUM_TASKS), false},
#define STATUS_WORD(id, word) STOPPED(END_##id, word),
#include "recording/keys.def"
	STOPPED(END_INCOMPLETE, "incomplete"),
	STOPPED(END_UNKNOWN, "unknown"),
	{"has_error", "Share of rollouts without a session or an end.",
         MEAN(SUM_LOST, SUM_ROLLOUTS), false},
	{"environment_failure_rate",
         "Share of rollouts that failed by the environment, transport, capacity or verifier.",
         MEAN(SUM_ENVIRONMENT_FAILURES, SUM_ROLLOUTS), false},
#define FAILURE_CAUSE(id, word, whose, meaning)                                                    \
	{"failure/" word, "Failed and void rollouts of this cause: " meaning ".",                  \
	 COUNT(SUM_FAILURE + FAILURE_##id), true},
#include "evidence/attribution.def"
	{"rewards_invalid", "Rewards that are none of the policy's: the environment failed before.",
         COUNT(SUM_NO_REWARD), true},
	{"is_truncated", "Share of rollouts truncated by the environment or by the limit of turns.",
         MEAN(SUM_CUT_OFF, SUM_ROLLOUTS), false},
	{"turns", "Decisions of the policy.", COUNT(SUM_TURNS), false},
	{"steps", "Calls sent to the environment.", COUNT(SUM_STEPS), false},
	{"effective", "Steps that changed the state, in more than clocks, ids and call counters.",
         METRIC_KNOWN, SUM_EFFECTIVE, SUM_JUDGED, false},
	{"failed", "Steps whose outcome is not ok.", COUNT(SUM_FAILED), false},
	{"num_turns/mean", "Mean number of turns per rollout.", MEAN(SUM_TURNS, SUM_ROLLOUTS),
         false},
	{"num_turns/min", "Fewest turns in a rollout.", METRIC_LOW, EXTREME_TURNS, 0, false},
	{"num_turns/max", "Most turns in a rollout.", METRIC_HIGH, EXTREME_TURNS, 0, false},
	{"tools/call_frequency", "Parsed calls per rollout, sent or not.",
         MEAN(SUM_CALLS, SUM_ROLLOUTS), false},
	{"tools/failure_frequency", "Share of these calls that failed or could not be sent.",
         RATE(SUM_CALLS_FAILED, SUM_CALLS), false},
	{"unparsed_calls", "Calls that could not be parsed; TRL treats them as text.",
         COUNT(SUM_CALLS_UNPARSED), true},
	{"returned_error_frequency",
         "Share of calls with a successful reply whose content is an error: trainers that only "
         "catch exceptions count them as successes.",
         MEAN(SUM_CALLS_RETURNED_ERROR, SUM_CALLS), false},
	{"schema_accuracy",
         "Share of calls that can be parsed, name an existing tool and match its schema.",
         MEAN(SUM_CALLS_FIT, SUM_CALLS_CHECKED), false},
	{"parse_source/native", "Replies with calls in tool_calls.", COUNT(SUM_NATIVE), true},
	{"parse_source/text", "Replies with calls parsed from their text.", COUNT(SUM_TEXT), true},
	{"parse_source/none", "Replies without a call.", COUNT(SUM_NO_CALL), true},
	{"parse_repairs", "Repairs needed to parse calls.", COUNT(SUM_REPAIRS), true},
	{"completions/clipped_ratio",
         "Share of a model's rollouts whose last reply ended at its token limit.",
         MEAN(SUM_CLIPPED, SUM_COMPLETIONS), false},
	{"usage/prompt_tokens", "Mean tokens per prompt, as reported by the server.",
         MEAN(SUM_PROMPT_TOKENS, SUM_USAGES), false},
	{"usage/completion_tokens", "Mean tokens per reply, as reported by the server.",
         MEAN(SUM_COMPLETION_TOKENS, SUM_USAGES), false},
	{"mismatch_kl", "k3 between engine and trainer, mean over tokens.",
         MEAN(SUM_K3, SUM_COMPARED), false},
	{"rollout_corr/kl", "k1 between engine and trainer, mean over tokens: the plain estimate.",
         MEAN(SUM_K1, SUM_COMPARED), false},
	{"reward", "Mean reward of the rollouts that reached an end.",
         MEAN(SUM_REWARD, SUM_REWARDS), false},
	{"reward/min", "The lowest reward.", METRIC_LOW, EXTREME_REWARD, 0, false},
	{"reward/max", "The highest reward.", METRIC_HIGH, EXTREME_REWARD, 0, false},
	{"reward_std", "Standard deviation of all rewards, across groups.", METRIC_STD, 0, 0,
         false},
	{"groups", "Tasks with at least two rewards.", COUNT(SUM_GROUPS), false},
	{"frac_reward_zero_std", "Share of the samples in groups whose rewards are all equal.",
         MEAN(SUM_ZERO_STD_SAMPLES, SUM_GROUP_SAMPLES), false},
	{"solved_none", "Groups whose rewards are all 0 or less.", COUNT(SUM_SOLVED_NONE), false},
	{"solved_all", "Groups whose rewards are all 1 or more.", COUNT(SUM_SOLVED_ALL), false},
	{"solved_some", "All other groups.", COUNT(SUM_SOLVED_SOME), false},
};

const size_t metric_count = ARRAY_LEN(metric_table);

/* From verl/trainer/ppo/metric_utils.py and rollout_corr_helper.py, where verl's names differ
   from TRL's or ours. */
static const struct {
	const char *ours, *verl;
} verl_names[] = {
	{"tools/call_frequency", "tool_call_counts/mean"},
	{"completions/clipped_ratio", "response_length/clip_ratio"},
	{"mismatch_kl", "rollout_corr/k3_kl"},
	{"reward", "critic/rewards/mean"},
	{"reward/min", "critic/rewards/min"},
	{"reward/max", "critic/rewards/max"},
};

const char *metric_name(const struct metric *row, enum metric_names names)
{
	for (size_t i = 0; names == NAMES_VERL && i < ARRAY_LEN(verl_names); i++)
		if (strcmp(verl_names[i].ours, row->name) == 0)
			return verl_names[i].verl;
	return row->name;
}

bool metric_value(const struct metric *row, const struct metrics *m, double *value)
{
	switch (row->kind) {
	case METRIC_LOW:
		*value = m->low[row->numerator];
		return m->known[row->numerator];
	case METRIC_HIGH:
		*value = m->high[row->numerator];
		return m->known[row->numerator];
	case METRIC_COUNT:
		*value = m->sum[row->numerator];
		return true;
	case METRIC_KNOWN:
		*value = m->sum[row->numerator];
		return m->sum[row->denominator] > 0;
	case METRIC_STD:
		/* with Bessel's correction, like torch.std */
		*value = sqrt(m->rewards.squares / (m->rewards.count - 1));
		return m->rewards.count > 1 && isfinite(*value);
	case METRIC_MEAN:
	case METRIC_RATE:
		break;
	}
	*value = m->sum[row->denominator] > 0 ? m->sum[row->numerator] / m->sum[row->denominator]
	                                      : 0;
	return m->sum[row->denominator] > 0 ||
	       (row->kind == METRIC_RATE && m->sum[SUM_ROLLOUTS] > 0);
}
