/* Differences between the metrics of two sets of recordings, for people, as JSON and as CSV. */
#ifndef ROLLDBG_REPORT_METRIC_CHANGES_H
#define ROLLDBG_REPORT_METRIC_CHANGES_H

#include "report/report.h"
#include "stats/compare.h"

enum change_format { CHANGES_TABLE, CHANGES_JSON, CHANGES_CSV };

struct change_count {
	size_t tasks, only_before, only_after;
	size_t verdicts[CHANGE_VERDICTS]; /* of all rollouts */
	size_t tasks_changed;             /* in some metric */
};

/* What stands above the changes. */
void report_changes_title(enum change_format format, struct buf *out);
/* Above those of a task, for people; NULL text: rollouts without a task. */
void report_changes_task(struct str task, enum change_format format, struct buf *out);
/* of_task: of that task, else of all rollouts. */
void report_change(const struct metric_change *c, bool of_task, struct str task,
                   enum change_format format, struct style style, struct buf *out);
void report_changes_end(const struct change_count *count, enum change_format format,
                        struct buf *out);

#endif
