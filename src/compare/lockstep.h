/* Compares two rollouts while they are read, step beside step, as long as both make the same calls:
   so the length of a rollout costs no memory. From the first call that differs, the rest of both
   is kept, because steps may have been inserted or left out. */
#ifndef ROLLDBG_COMPARE_LOCKSTEP_H
#define ROLLDBG_COMPARE_LOCKSTEP_H

#include "compare/compare.h"
#include "trajectory/by_rollout.h"

struct lockstep_side {
	struct by_rollout *lines; /* its next rollout is read */
	bool canonical;           /* how to read it (by_rollout_line) */
	struct strip *strip;
	struct rollout_copy *rollout; /* without steps at first */
	reader_line_fn *see;          /* gets each line before it is compared */
	void *ctx;
};

/* Like reading both rollouts and compare_rollouts, with the same differences in the same order,
   except that a header or reset which follows a step is not compared. */
MUST_USE int lockstep_compare(struct lockstep_side *first, struct lockstep_side *second,
                              const struct compare_conf *conf, struct compare_count *count,
                              struct error *err);
/* Reads a rollout that only one side has, and reports it. */
MUST_USE int lockstep_lone(struct lockstep_side *side, bool extra, const struct compare_conf *conf,
                           struct compare_count *count, struct error *err);

#endif
