/* The first steps of a recorded rollout: the data to repeat them in a new session and to compare
   the states. */
#ifndef ROLLDBG_DEBUG_PREFIX_H
#define ROLLDBG_DEBUG_PREFIX_H

#include "debug/cursor.h"
#include "debug/live.h"

struct prefix {
	struct live_request request; /* repeats the rollout with all its calls */
	int64_t steps;               /* how many of the calls are in the prefix */
	bool has_seed;
	int64_t unknown; /* states that could not be compared */
	struct json_paths *ignored;
	struct arena arena;
};

/* Reads the steps of the cursor's rollout up to and including that position. *parent: a second
   cursor on it, for prefix_compare. `file`: the recording's name in a fork's header. FAIL_INPUT. */
MUST_USE int prefix_read(struct prefix *p, const struct cursor *c, int64_t position, bool fork,
                         const char *file, struct cursor **parent, struct error *err);
void prefix_release(struct prefix *p); /* zeroed is fine */

/* Compares `state` with the recorded state before step N (or after the last one). If they differ,
   *same is false, and the differences are appended. */
MUST_USE int prefix_compare(struct prefix *p, struct cursor *parent, int64_t step, struct str state,
                            struct buf *out, bool *same, struct error *err);

#endif
