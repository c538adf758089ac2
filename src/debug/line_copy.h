/* A copy of a line, with its own text and slices into it. */
#ifndef ROLLDBG_DEBUG_LINE_COPY_H
#define ROLLDBG_DEBUG_LINE_COPY_H

#include "recording/line.h"

struct line_copy {
	struct buf text, id;
	struct line line;
};

void line_copy_init(struct line_copy *c);
void line_copy_release(struct line_copy *c); /* zeroed is fine */

/* Replaces the previous line. FAIL_INPUT: the line is too long. */
MUST_USE int line_copy_set(struct line_copy *c, const struct line *l, struct error *err);

#endif
