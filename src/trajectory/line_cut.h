/* Lines that are longer than a reader takes: their longest values are cut. */
#ifndef ROLLDBG_TRAJECTORY_LINE_CUT_H
#define ROLLDBG_TRAJECTORY_LINE_CUT_H

#include "base/mem.h"
#include "trajectory/line.h"

#define LINE_MAX_BYTES BUF_MAX_MESSAGE /* of one line, as readers take it */

/* The bytes of all values. Where these are few, no escape or redaction makes a line too
   long. */
size_t line_values_bytes(const struct line *l);

/* What the event says of a value that was too long to be made at all. */
void line_cut_whole(const struct line *l, enum key k, char detail[128]);

/* Cuts the longest value that may be: to a string of how it began, or to null where the key
   takes no string. A state is null then (a part of one would be another state; its hash
   stays). Its copy lives in `a`. *detail: what an event truncated-bytes says, JSON. False:
   no value is left to cut. */
bool line_cut_longest(struct line *l, struct arena *a, char detail[128]);

#endif
