/* --jobs: how many rollouts run at once, or how many threads compute (the output is that of one
   thread). */
#ifndef ROLLDBG_CMD_OPTIONS_JOBS_H
#define ROLLDBG_CMD_OPTIONS_JOBS_H

#include "base/error.h"
#include "cmd/options/options.h"

#define THREADS_MAX 64 /* threads are CPU-bound: more than processors do not help */

/* The number given, from 1 to `most`; 1 by default. FAIL_USAGE. */
MUST_USE int jobs_number(const struct opt_u64 *given, uint64_t most, size_t *out,
                         struct error *err);
/* The number of threads. */
MUST_USE int threads_number(const struct opt_u64 *given, size_t *out, struct error *err);

/* ---- open files ---- */

/* Raises the soft limit on open files as needed for that many rollouts. FAIL_SYSTEM, with the fix,
   if the hard limit is too low. */
MUST_USE int descriptors_allow(size_t rollouts, struct error *err);

#endif
