/* Prints metrics and the checklist, and differences between the metrics of two sets, as text, CSV and
   JSON lines. */
#pragma once

#include "report/report.h"
#include "stats/checklist.h"
#include "stats/compare_metrics.h"

/* All metrics in two columns, name and value. */
void report_metrics(const struct metrics *m, enum metric_names names, struct buf *out);
/* One row per task, below a title. task absent: rollouts without a task. */
void report_metrics_title(struct buf *out);
void report_metrics_row(struct str task, const struct metrics *m, struct buf *out);
void report_checklist(const struct checklist_line lines[CHECKLIST], struct style style,
                      struct buf *out);

/* One CSV line with all metrics; of_task: of that task, which may be absent. m NULL: the title. */
void report_csv_metrics(bool of_task, struct str task, const struct metrics *m,
                        enum metric_names names, struct buf *out);

/* {"type":"metrics","rollouts":..} or {"type":"task","task":..,"rollouts":..}. */
void report_json_metrics(const struct metrics *m, enum metric_names names, struct buf *out);
void report_json_task(struct str task, const struct metrics *m, enum metric_names names,
                      struct buf *out);
/* {"type":"property","name":..,"status":..,"value":..}, and a summary. */
void report_json_checklist(const struct checklist_line lines[CHECKLIST], const struct metrics *m,
                           struct buf *out);

/* ---- differences between two sets ---- */

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
