/* Compares the metrics of two sets of recordings: the differences, and which of them are
   significant. */
#pragma once

#include "stats/metrics.h"

/* ---- confidence intervals ---- */

/* A value with its confidence interval. known false: there are no data. bounded false: the value
   is known, but not its interval (one sample). */
struct estimate {
	bool known, bounded;
	double value, low, high;
};

/* Sums over n samples: of their values, and of the squares. The samples of a rate are 0 or 1. */
struct samples {
	double n, sum, squares;
};

/* Intervals with coverage `level` (0.95). Rate: Wilson's score interval; mean: Student's. */
struct estimate interval_of_rate(const struct samples *s, double level);
struct estimate interval_of_mean(const struct samples *s, double level);

/* Intervals of the difference `after` - `before`. Rates: Newcombe's hybrid of two Wilson
   intervals (Statistics in Medicine 17, 1998, method 10). Means: Welch's, which allows different
   variances. */
struct estimate interval_of_rates(const struct samples *before, const struct samples *after,
                                  double level);
struct estimate interval_of_means(const struct samples *before, const struct samples *after,
                                  double level);

/* The two-sided critical value: a standard normal, or Student's t with that many degrees of
   freedom, exceeds it in absolute value with probability 1 - level. */
double interval_normal(double level);
double interval_student(double level, double freedom);

/* ---- metrics ---- */

#define COMPARE_LEVEL 0.95

enum change_verdict {
	CHANGE_NOISE,   /* the interval of the difference contains 0 */
	CHANGE_MORE,    /* the whole interval is above 0 */
	CHANGE_LESS,    /* the whole interval is below 0 */
	CHANGE_UNKNOWN, /* one side has no samples, or too few for an interval */
	CHANGE_VERDICTS
};
const char *change_verdict_name(enum change_verdict v);

struct metric_change {
	const char *metric;
	bool rate; /* a rate; otherwise a mean */
	double before_n, after_n;
	struct estimate before, after, difference;
	enum change_verdict verdict;
};

/* The number of compared metrics, in the order of the results. */
#define COMPARED_MAX 16
extern const size_t compared_metrics;

/* Compares one metric of two sets. `comparisons`: the number of metrics compared together; the
   level of each interval is raised so that COMPARE_LEVEL holds for all of them (Bonferroni). */
struct metric_change metric_compare(size_t metric, const struct metrics *before,
                                    const struct metrics *after, size_t comparisons);
