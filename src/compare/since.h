/* How the environment replied after a replay diverged from its golden. */
#ifndef ROLLDBG_COMPARE_SINCE_H
#define ROLLDBG_COMPARE_SINCE_H

#include "compare/rollout_copy.h"

/* The calls from one step on, as recorded in the rollout. */
struct since {
	int64_t calls, ok;
	int64_t effective, unknown; /* steps, counted as in all summaries (evidence/evidence.h) */
};

void since_step(const struct rollout_copy *r, int64_t step, struct since *out);

#endif
