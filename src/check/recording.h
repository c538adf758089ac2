/* Judging a whole recording from a file: what check, stats and --baseline do alike. */
#ifndef ROLLDBG_CHECK_RECORDING_H
#define ROLLDBG_CHECK_RECORDING_H

#include "check/judge.h"

/* Called after each line: -1 with err set ends the reading. */
typedef int after_line_fn(void *ctx, struct error *err);

/* Begins the file (the path is borrowed until the next one or judge_free) and gives the
   judge all of its lines. FAIL_INPUT with path and line; also for a file without any: a
   run that died before its first line must not pass for a clean one. after may be NULL.
 */
MUST_USE int judge_recording(struct judge *j, const char *path, after_line_fn *after,
                             void *ctx, struct error *err);

#endif
