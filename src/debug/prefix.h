/* The first steps of a recorded rollout: what is needed to repeat them in a new session, and to compare
   the states. */
#ifndef ROLLDBG_DEBUG_PREFIX_H
#define ROLLDBG_DEBUG_PREFIX_H

#include "debug/cursor.h"
#include "debug/live.h"

struct prefix {
	struct live_request request; /* the rollout again, all of its calls */
	int64_t steps;               /* how many of them are the prefix */
	bool has_seed;
	int64_t unknown; /* states that could not be compared */
	struct json_paths *ignored;
	struct arena arena;
};

/* The steps up to and including that position, of what the cursor looks at. *parent: another cursor
   on it, for prefix_compare. `file`: what a fork's header calls the recording. FAIL_INPUT. */
MUST_USE int prefix_read(struct prefix *p, const struct cursor *c, int64_t position, bool fork,
                         const char *file, struct cursor **parent, struct error *err);
void prefix_release(struct prefix *p); /* zeroed is fine */

/* Is `state` the one that was recorded before step N (behind the last: after it)? If not, *same is
   false, and what differs is appended. */
MUST_USE int prefix_compare(struct prefix *p, struct cursor *parent, int64_t step, struct str state,
                            struct buf *out, bool *same, struct error *err);

#endif
