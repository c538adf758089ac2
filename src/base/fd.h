/* Writes whole buffers to file descriptors. */
#ifndef ROLLDBG_BASE_FD_H
#define ROLLDBG_BASE_FD_H

#include "base/base.h"

/* Writes all of text: continues after a signal, and waits if the descriptor is non-blocking.
   Returns 0, or -1 with errno. Sets *done to the number of bytes written in either case. */
MUST_USE int fd_write(int fd, struct str text, size_t *done);

#endif
