/* The folder debug/: the debugger: a place in a recording, conditions on it, breakpoints, the verbs
   and the prompt. Not here: options (cmd/), how findings look (report/), driving a rollout
   (rollout/). */

/* One step of a rollout with its result. */
#ifndef ROLLDBG_DEBUG_MOMENT_H
#define ROLLDBG_DEBUG_MOMENT_H

#include "facts/effect.h"
#include "trajectory/line.h"

/* Slices are borrowed from whoever made it and valid until that moves. */
struct moment {
	int64_t position;        /* N: the rollout's N-th step line; 0: before the first one */
	const struct line *line; /* the step; at position 0 the reset, or the header without one */
	/* state and state_hash of the line that follows, raw; absent or null: unknown */
	struct str after, after_hash;
	struct str
		events; /* the event lines between this one and the next, with their line feeds */
	enum effect effect; /* of the step, as check counts it */
	bool is_last;       /* no step follows, so far */
	uint64_t number;    /* of the line in its file, from 1 */
	uint64_t end;       /* offset in the file behind the line */
};

#endif
