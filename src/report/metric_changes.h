/* Differences between the metrics of two sets of recordings, as text, JSON and CSV. */
#ifndef ROLLDBG_REPORT_METRIC_CHANGES_H
#define ROLLDBG_REPORT_METRIC_CHANGES_H

#include "report/report.h"
#include "stats/compare.h"

enum change_format { CHANGES_TABLE, CHANGES_JSON, CHANGES_CSV };

struct change_count {
	size_t tasks, only_before, only_after;
	size_t verdicts[CHANGE_VERDICTS]; /* over all rollouts */
	size_t tasks_changed;             /* tasks with a change in some metric */
};

/* Appends the heading. */
void report_changes_title(enum change_format format, struct buf *out);
/* Appends the heading of a task, in text output; absent task: rollouts without a task. */
void report_changes_task(struct str task, enum change_format format, struct buf *out);
/* Appends one change; of_task: of that task, otherwise of all rollouts. */
void report_change(const struct metric_change *c, bool of_task, struct str task,
                   enum change_format format, struct style style, struct buf *out);
void report_changes_end(const struct change_count *count, enum change_format format,
                        struct buf *out);

#endif
