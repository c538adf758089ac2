/* Two sets of recordings: by how much their metrics differ, and which differences are more than
   chance. */
#ifndef ROLLDBG_STATS_COMPARE_H
#define ROLLDBG_STATS_COMPARE_H

#include "stats/interval.h"
#include "stats/metrics.h"

#define COMPARE_LEVEL 0.95

enum change_verdict {
	CHANGE_NOISE,   /* 0 is in the interval of the difference */
	CHANGE_MORE,    /* all of it is above 0 */
	CHANGE_LESS,    /* all of it is below */
	CHANGE_UNKNOWN, /* a side has no samples, or too few for an interval */
	CHANGE_VERDICTS
};
const char *change_verdict_name(enum change_verdict v);

struct metric_change {
	const char *metric;
	bool rate; /* else a mean */
	double before_n, after_n;
	struct estimate before, after, difference;
	enum change_verdict verdict;
};

/* The metrics that are compared, in the order of the results. */
#define COMPARED_MAX 16
extern const size_t compared_metrics;

/* One metric of two sets. `comparisons`: how many such are looked at side by side; so many
   intervals hold all together at COMPARE_LEVEL (Bonferroni). */
struct metric_change metric_compare(size_t metric, const struct metrics *before,
                                    const struct metrics *after, size_t comparisons);

#endif
