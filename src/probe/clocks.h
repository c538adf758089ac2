/* What differs between two states although nothing happened: moments and made-up ids. */
#ifndef ROLLDBG_PROBE_CLOCKS_H
#define ROLLDBG_PROBE_CLOCKS_H

#include "base/buf.h"

/* Appends text with '#' for each date with a time (ISO 8601), each number that is a Unix
   time of these decades in seconds, milli-, micro- or nanoseconds, each UUID, and each
   run of 32 hex digits. */
void clocks_mask(struct str text, struct buf *out);

#endif
