/* Compares metrics: see compare.h. */
#include "stats/compare.h"

/* A rate is sum[numerator] / sum[denominator]; a mean also has the sum of squares. */
static const struct compared {
	const char *metric; /* the name in metric_table, if it is there */
	enum sum numerator, denominator, squares;
} table[] = {
	{"reward", SUM_REWARD, SUM_REWARDS, SUM_REWARD_SQUARES},
	{"reward_positive", SUM_REWARD_POSITIVE, SUM_REWARDS, SUM_NONE},
	{"has_error", SUM_LOST, SUM_ROLLOUTS, SUM_NONE},
	{"is_truncated", SUM_CUT_OFF, SUM_ROLLOUTS, SUM_NONE},
	{"num_turns/mean", SUM_TURNS, SUM_ROLLOUTS, SUM_TURN_SQUARES},
	{"num_steps/mean", SUM_STEPS, SUM_ROLLOUTS, SUM_STEP_SQUARES},
	{"tools/failure_frequency", SUM_CALLS_FAILED, SUM_CALLS, SUM_NONE},
	{"schema_accuracy", SUM_CALLS_FIT, SUM_CALLS_CHECKED, SUM_NONE},
	{"completions/clipped_ratio", SUM_CLIPPED, SUM_COMPLETIONS, SUM_NONE},
};
const size_t compared_metrics = ARRAY_LEN(table);
_Static_assert(ARRAY_LEN(table) <= COMPARED_MAX, "room for all");

const char *change_verdict_name(enum change_verdict v)
{
	static const char *const names[CHANGE_VERDICTS] = {
		[CHANGE_NOISE] = "noise",
		[CHANGE_MORE] = "more",
		[CHANGE_LESS] = "less",
		[CHANGE_UNKNOWN] = "unknown",
	};

	return names[v];
}

static struct samples samples_of(const struct compared *c, const struct metrics *m)
{
	return (struct samples){m->sum[c->denominator], m->sum[c->numerator], m->sum[c->squares]};
}

static enum change_verdict judge(const struct estimate *difference)
{
	if (!difference->bounded)
		return CHANGE_UNKNOWN;
	return difference->low > 0    ? CHANGE_MORE
	       : difference->high < 0 ? CHANGE_LESS
	                              : CHANGE_NOISE;
}

struct metric_change metric_compare(size_t metric, const struct metrics *before,
                                    const struct metrics *after, size_t comparisons)
{
	const struct compared *c = &table[metric];
	struct samples a = samples_of(c, before), b = samples_of(c, after);
	double level = 1 - (1 - COMPARE_LEVEL) / (comparisons ? (double)comparisons : 1);
	struct metric_change r = {.metric = c->metric,
	                          .rate = c->squares == SUM_NONE,
	                          .before_n = a.n,
	                          .after_n = b.n};

	if (r.rate) {
		r.before = interval_of_rate(&a, COMPARE_LEVEL);
		r.after = interval_of_rate(&b, COMPARE_LEVEL);
		r.difference = interval_of_rates(&a, &b, level);
	} else {
		r.before = interval_of_mean(&a, COMPARE_LEVEL);
		r.after = interval_of_mean(&b, COMPARE_LEVEL);
		r.difference = interval_of_means(&a, &b, level);
	}
	r.verdict = judge(&r.difference);
	return r;
}
