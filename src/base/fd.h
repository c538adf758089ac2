/* Whole texts into file descriptors. */
#ifndef ROLLDBG_BASE_FD_H
#define ROLLDBG_BASE_FD_H

#include "base/base.h"

/* Writes all of it: goes on after a signal, and waits where a pipe's other end made it
   non-blocking. 0, or -1 with errno. *done says how much is out in either case. */
MUST_USE int fd_write(int fd, struct str text, size_t *done);

#endif
