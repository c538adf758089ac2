/* The directory debug/: the debugger: positions in a recording, conditions, breakpoints, verbs and
   the prompt. Options are in cmd/, the format of findings in report/, and driving a rollout in
   rollout/. */

/* One step of a rollout with its result. */
#pragma once

#include "evidence/verdict.h"
#include "recording/line.h"

/* Slices are borrowed from the object that made it and valid until that moves. */
struct moment {
	int64_t position; /* N: the rollout's N-th step line; 0: before the first one */
	/* the step; at position 0 the reset, or the header if there is none */
	const struct line *line;
	/* state and state_hash of the next line, raw; absent or null: unknown */
	struct str after, after_hash;
	/* the event lines between this one and the next, with their line feeds */
	struct str events;
	enum effect effect; /* of the step, by the definition of check */
	bool is_last;       /* no further step has been read */
	uint64_t number;    /* line number in its file, from 1 */
	uint64_t end;       /* offset in the file after the line */
};
