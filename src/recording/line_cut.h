/* Shortens lines that exceed the readers' limit by truncating their longest values. */
#ifndef ROLLDBG_RECORDING_LINE_CUT_H
#define ROLLDBG_RECORDING_LINE_CUT_H

#include "base/mem.h"
#include "recording/line.h"

#define LINE_MAX_BYTES BUF_MAX_MESSAGE /* the readers' limit for one line */

/* The total size of all values. If it is small, no escaping or redaction can make the line too
   long. */
size_t line_values_bytes(const struct line *l);

/* Writes the detail of the event for a value that exceeded a buffer's cap while being written. */
void line_cut_whole(const struct line *l, enum key k, char detail[128]);

/* Truncates the longest value that may be truncated: to a string with its start, or to null if
   the key takes no string. A state becomes null, because part of a state would be a different
   state; its hash is kept. The new value is allocated in `a`. *detail: JSON for a
   truncated-bytes event. False: no value is left to truncate. */
bool line_cut_longest(struct line *l, struct arena *a, char detail[128]);

#endif
