/* What stats --compare prints. */
#ifndef ROLLDBG_CMD_STATS_COMPARE_H
#define ROLLDBG_CMD_STATS_COMPARE_H

#include "cmd/cmd.h"
#include "cmd/gather.h"
#include "cmd/output.h"
#include "report/metric_changes.h"

/* Ends what was gathered. all_tasks: those without a change as well. */
MUST_USE int stats_compare(const struct context *c, struct stats *before, struct stats *after,
                           bool all_tasks, enum change_format format, struct output *out,
                           struct error *err);

#endif
