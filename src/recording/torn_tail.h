/* Repairs the end of a recording that a crash may have truncated, before appending to it. */
#ifndef ROLLDBG_RECORDING_TORN_TAIL_H
#define ROLLDBG_RECORDING_TORN_TAIL_H

#include "base/error.h"

#include <sys/types.h>

/* Checks the last line of the regular file fd (readable, O_APPEND, locked by the caller). A
   complete object gets its missing line feed. A truncated one is moved to a new file
   `<path>.bak` (`.bak2` ...), and reported on stderr. *size: where the next line starts. */
MUST_USE int torn_tail_repair(int fd, const char *path, off_t *size, struct error *err);

#endif
