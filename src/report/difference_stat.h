/* Which rollouts of two batches differ in what, the most telling first. */
#ifndef ROLLDBG_REPORT_DIFFERENCE_STAT_H
#define ROLLDBG_REPORT_DIFFERENCE_STAT_H

#include "compare/compare.h"
#include "report/report.h"

/* Zeroed is empty. */
struct difference_stats {
	struct stat_row *rows;
	size_t count, room;
	struct arena arena;
};

/* One rollout that differs; the side that does not have it is NULL. Verdicts are the ids of rules
   whose findings are errors, NULL: there is none. Copies everything. */
void difference_stats_add(struct difference_stats *s, const struct rollout_copy *first,
                          const struct rollout_copy *second, const char *const verdicts[2],
                          const struct compare_count *count);
/* Appends a line for each, "ID: 6 -> 4 steps, status .., reward 1 -> 0, verdict .., 2 missing":
   first those whose verdict differs, then those that one side alone has, then reward (the largest
   change first), status, steps, and values; as JSON lines {"type":"rollout-difference",..}. */
void difference_stats_put(const struct difference_stats *s, bool json, struct style style,
                          struct buf *out);
void difference_stats_release(struct difference_stats *s);

#endif
