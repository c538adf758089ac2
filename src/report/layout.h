/* Divides the width of a table among its columns. */
#ifndef ROLLDBG_REPORT_LAYOUT_H
#define ROLLDBG_REPORT_LAYOUT_H

#include "base/base.h"

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

#endif
