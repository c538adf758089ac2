/* --jobs of the commands that compute: the output is that of one thread. */
#ifndef ROLLDBG_CMD_THREADS_H
#define ROLLDBG_CMD_THREADS_H

#include "cmd/options.h"

#define THREADS_MAX 64 /* threads are CPU-bound: more than processors do not help */

/* The number of threads, 1 by default; FAIL_USAGE. */
MUST_USE int threads_number(const struct opt_u64 *given, size_t *out, struct error *err);

#endif
