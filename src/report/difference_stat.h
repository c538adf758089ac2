/* The rollouts that differ between two batches, and how, most important first. */
#pragma once

#include "compare/compare.h"
#include "report/report.h"

/* ---- what differs in many rollouts: how many rollouts have which difference ---- */

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
void tally_print(struct difference_tally *t, struct buf *out);
void tally_release(struct difference_tally *t);

/* ---- rollouts ---- */

/* Zeroed is empty. */
struct difference_stats {
	struct stat_row *rows;
	size_t count;
	struct arena arena;
	struct difference_tally all, one; /* one: of the rollout that is added next */
};

/* Adds a rollout that differs; the side without it is NULL. verdicts: per side, the id of a rule
   with an error finding, or NULL. Copies everything. */
void difference_stats_add(struct difference_stats *s, const struct rollout_copy *first,
                          const struct rollout_copy *second, const char *const verdicts[2],
                          const struct compare_count *count);
/* Before: each of its differences. */
void difference_stats_see(struct difference_stats *s, const struct difference *d);
/* Of two rollouts or more that differ (of `rollouts` that were compared) appends what differs in how many. Then one
   line per rollout, "ID: 6 -> 4 steps, status .., reward 1 -> 0, verdict .., 2 missing, 1 value differs:
   /reward changed", in this order: different verdict, on one side only, different reward (largest change
   first), status, steps, values. As JSON: lines {"type":"rollout-difference",..}. */
void difference_stats_put(struct difference_stats *s, size_t rollouts, bool json,
                          struct style style, struct buf *out);
void difference_stats_release(struct difference_stats *s);
