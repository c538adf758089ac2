/* Compares the metrics of two sets of recordings: the differences, and which of them are
   significant. */
#ifndef ROLLDBG_STATS_COMPARE_H
#define ROLLDBG_STATS_COMPARE_H

#include "stats/interval.h"
#include "stats/metrics.h"

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

#endif
