/* Confidence intervals for rates and means, and for their differences. */
#ifndef ROLLDBG_STATS_INTERVAL_H
#define ROLLDBG_STATS_INTERVAL_H

#include "base/base.h"

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

#endif
