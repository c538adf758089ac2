/* The end of a recording that a crash may have torn, before something is written behind
 * it. */
#ifndef ROLLDBG_TRAJECTORY_TAIL_H
#define ROLLDBG_TRAJECTORY_TAIL_H

#include "base/error.h"

#include <sys/types.h>

/* Looks at the last line of the regular file fd (readable, O_APPEND, locked by us). A
   whole object without line feed gets one. A torn one is kept in a new file `<path>.bak`
   (`.bak2` ...), cut off and told on stderr. *size: where the next line begins. */
MUST_USE int tail_mend(int fd, const char *path, off_t *size, struct error *err);

#endif
