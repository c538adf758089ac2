/* One step as a row of the table. */
#pragma once

#include "evidence/verdict.h"
#include "report/changes.h"
#include "report/report.h"

/* ---- one line of a table: cells are truncated, padded and colored, and never exceed its width ---- */

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
void cells_end(struct cells *c); /* ends the line, without trailing spaces */

/* ---- the columns of the table ---- */

#define TURN_COLUMNS   ((size_t)4)
#define REWARD_COLUMNS ((size_t)6)
#define GAP            ((size_t)2) /* between two columns */
#define LEAST_COLUMNS  ((size_t)20)

/* First cell of each column. On a narrow terminal a row takes two lines, the second starting with
   `outcome`. */
struct layout {
	size_t columns;
	bool two_lines;
	size_t call, outcome, state, reward, observation;
	size_t call_end, state_end;
};

/* The width each column needs to show the known rows untruncated. */
struct widths {
	size_t call, outcome, state, observation;
};

struct layout layout_make(size_t columns, struct widths w);

/* ---- rows ---- */

/* Zeroed is empty; reused for many steps. */
struct row {
	int64_t turn;
	enum outcome outcome;
	bool sent; /* a call was sent: otherwise it has no effect */
	enum effect effect;
	struct changes changes;       /* of the state, if it changed */
	struct buf call, observation; /* shortened, not escaped */
	struct buf events;            /* table lines to print below it */
	char reward[24];
};

void row_init(struct row *r);
void row_release(struct row *r);

/* Sets everything but the effect from a step's line. */
void row_set(struct row *r, const struct line *step);

/* Raises the widths to those this row needs. */
void row_widths(const struct row *r, struct widths *w);

void row_print(const struct row *r, const struct layout *l, struct style style, struct buf *out);
void row_print_heading(const struct layout *l, struct buf *out);
