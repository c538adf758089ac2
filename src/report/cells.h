/* One line of a table: cells are truncated, padded and colored, and never exceed the table's
   width. */
#ifndef ROLLDBG_REPORT_CELLS_H
#define ROLLDBG_REPORT_CELLS_H

#include "report/report.h"

static inline size_t at_least(size_t n, size_t least)
{
	return n > least ? n : least;
}

static inline size_t at_most(size_t n, size_t most)
{
	return n < most ? n : most;
}

struct cells {
	struct buf *out;
	size_t columns, used; /* line width, and width used so far, in terminal cells */
	bool color;
};

/* Adds escaped text, truncated to `width` cells and to the rest of the line. color may be NULL. */
void cells_add(struct cells *c, struct str text, size_t width, const char *color);
/* Pads with spaces up to that column. */
void cells_pad(struct cells *c, size_t column);
/* Right-aligns text to end at that column, if it fits. */
void cells_right(struct cells *c, struct str text, size_t column);
size_t cells_left(const struct cells *c);
void cells_end(struct cells *c); /* ends the line, without trailing spaces */

#endif
