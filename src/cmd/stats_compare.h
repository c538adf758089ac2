/* Output of stats --compare. */
#ifndef ROLLDBG_CMD_STATS_COMPARE_H
#define ROLLDBG_CMD_STATS_COMPARE_H

#include "cmd/cmd.h"
#include "cmd/gather.h"
#include "cmd/output.h"
#include "report/metric_changes.h"

/* Finishes the gathered metrics and prints them. all_tasks: includes tasks without a change. */
MUST_USE int stats_compare(const struct context *c, struct stats *before, struct stats *after,
                           bool all_tasks, enum change_format format, struct output *out,
                           struct error *err);

#endif
