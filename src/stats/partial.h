/* Metrics of a part of the rollouts as text. Merging all parts gives the same bytes as
   processing all recordings at once. Only readable by the same version of the program: a first
   line with the format version, and one line per task. */
#ifndef ROLLDBG_STATS_PARTIAL_H
#define ROLLDBG_STATS_PARTIAL_H

#include "base/error.h"
#include "stats/stats.h"

/* Appends everything collected so far. `trained`: a trainer's log-probabilities were given. */
void partial_write(const struct stats *s, bool trained, struct buf *out);

/* Adds the output of one or more calls of partial_write. Sets *trained if it was set in any of
   them. FAIL_INPUT, "NAME:LINE: ..", also for truncated text. */
MUST_USE int partial_read(struct stats *s, struct str text, const char *name, bool *trained,
                          struct error *err);

#endif
