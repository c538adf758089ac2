/* Line numbers of the turns of an open rollout. */
#ifndef ROLLDBG_CHECK_TURN_LINES_H
#define ROLLDBG_CHECK_TURN_LINES_H

#include "recording/line.h"

#define TURN_LINES_MAX ((size_t)1 << 16) /* later turns are not kept */

/* Empty if zeroed. */
struct turn_lines {
	uint64_t header;
	uint64_t *first; /* by turn: its first line; 0: not seen */
	size_t count, room;
};

void turn_lines_add(struct turn_lines *t, const struct line *l);
/* The first line of that turn, else of the header; 0: unknown. */
uint64_t turn_lines_find(const struct turn_lines *t, int64_t turn);
void turn_lines_release(struct turn_lines *t);

#endif
