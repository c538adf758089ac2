/* Metrics of some of the rollouts, as text: put together they give the bytes that all recordings
   give at once. For this version of the program alone: a line that says so, and one a task. */
#ifndef ROLLDBG_STATS_PARTIAL_H
#define ROLLDBG_STATS_PARTIAL_H

#include "base/error.h"
#include "stats/stats.h"

/* Appends all that was collected. `trained`: a trainer's log-probabilities were given. */
void partial_write(const struct stats *s, bool trained, struct buf *out);

/* Adds what partial_write wrote, once or several times. *trained is set where it was. FAIL_INPUT,
   "NAME:LINE: ..", also for text that ends too soon. */
MUST_USE int partial_read(struct stats *s, struct str text, const char *name, bool *trained,
                          struct error *err);

#endif
