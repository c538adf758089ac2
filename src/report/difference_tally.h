/* What differs in many rollouts, in few lines: how many rollouts have which difference. */
#ifndef ROLLDBG_REPORT_DIFFERENCE_TALLY_H
#define ROLLDBG_REPORT_DIFFERENCE_TALLY_H

#include "compare/compare.h"

#define TALLY_MAX 256 /* further kinds of differences are counted together */

struct tally_row {
	struct str key; /* "/outcome ok -> tool-error"; in the arena */
	size_t rollouts, seen, differences;
};

/* Zeroed is empty. */
struct difference_tally {
	struct tally_row rows[TALLY_MAX];
	size_t count, rollouts, others;
	struct arena arena;
};

void tally_rollout(struct difference_tally *t); /* before the differences of the next rollout */
void tally_difference(struct difference_tally *t, const struct difference *d);
/* Appends a line for each, the most frequent first: "/outcome ok -> tool-error: 100 of 100 rollouts"; nothing
   for less than two rollouts. */
/* Appends the values that differ, the most frequent first: ": /reward changed, /state/x changed (9)". */
void tally_values(struct difference_tally *t, struct buf *out);
void tally_print(struct difference_tally *t, struct buf *out);
void tally_release(struct difference_tally *t);

#endif
