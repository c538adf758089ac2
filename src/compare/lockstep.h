/* Compares two rollouts step by step while they are read, until their calls differ, so that memory
   does not grow with their length. From the first different call on, or the first different reply
   to one of several equal calls, the rest of both is kept in memory, because steps may have been inserted or
   left out. */
#ifndef ROLLDBG_COMPARE_LOCKSTEP_H
#define ROLLDBG_COMPARE_LOCKSTEP_H

#include "compare/compare.h"
#include "recording/by_rollout.h"

struct lockstep_side {
	struct by_rollout *lines; /* its next rollout is read */
	struct strip *strip;
	struct rollout_copy *rollout; /* without steps at first */
	reader_line_fn *see;          /* receives each line before it is compared */
	void *ctx;
};

/* Like reading both rollouts and compare_rollouts, with the same differences in the same order,
   except that a header or reset that follows a step is not compared. */
MUST_USE int lockstep_compare(struct lockstep_side *first, struct lockstep_side *second,
                              const struct compare_conf *conf, struct compare_count *count,
                              struct error *err);
/* Reads a rollout that only one side has, and reports it. */
MUST_USE int lockstep_unpaired(struct lockstep_side *side, bool extra,
                               const struct compare_conf *conf, struct compare_count *count,
                               struct error *err);

#endif
