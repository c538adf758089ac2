/* Confidence intervals for rates and means, and for their differences. */
#ifndef ROLLDBG_STATS_INTERVAL_H
#define ROLLDBG_STATS_INTERVAL_H

#include "base/base.h"

/* A number with its interval; known false: there is nothing to tell it from. `bounded` false: the
   value is known, what it may be by chance is not (one sample). */
struct estimate {
	bool known, bounded;
	double value, low, high;
};

/* What was counted: `sum` of `n` samples, the sum of their squares. A rate's samples are 0 or 1. */
struct samples {
	double n, sum, squares;
};

/* At least that share (0.95) of such intervals hold the truth. A rate: Wilson's score interval; a
   mean: Student's. */
struct estimate interval_of_rate(const struct samples *s, double level);
struct estimate interval_of_mean(const struct samples *s, double level);

/* Of `after` - `before`. Rates: Newcombe's hybrid of two Wilson intervals (Statistics in Medicine
   17, 1998, method 10). Means: Welch's, which lets variances differ. */
struct estimate interval_of_rates(const struct samples *before, const struct samples *after,
                                  double level);
struct estimate interval_of_means(const struct samples *before, const struct samples *after,
                                  double level);

/* What a standard normal, or Student's t with that many degrees of freedom, exceeds in either
   direction with probability 1 - level. */
double interval_normal(double level);
double interval_student(double level, double freedom);

#endif
