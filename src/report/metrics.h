/* Prints metrics and the checklist, as text, CSV and JSON lines. */
#ifndef ROLLDBG_REPORT_METRICS_H
#define ROLLDBG_REPORT_METRICS_H

#include "report/report.h"
#include "stats/checklist.h"

/* All metrics in two columns, name and value. */
void report_metrics(const struct metrics *m, enum metric_names names, struct buf *out);
/* One row per task, below a title. task absent: rollouts without a task. */
void report_metrics_title(struct buf *out);
void report_metrics_row(struct str task, const struct metrics *m, struct buf *out);
void report_checklist(const struct checklist_line lines[CHECKLIST], struct style style,
                      struct buf *out);

/* One CSV line with all metrics; of_task: of that task, which may be absent. */
void report_csv_metrics_title(enum metric_names names, struct buf *out);
void report_csv_metrics(bool of_task, struct str task, const struct metrics *m, struct buf *out);

/* {"type":"metrics","rollouts":..} or {"type":"task","task":..,"rollouts":..}. */
void report_json_metrics(const struct metrics *m, enum metric_names names, struct buf *out);
void report_json_task(struct str task, const struct metrics *m, enum metric_names names,
                      struct buf *out);
/* {"type":"property","name":..,"status":..,"value":..}, and a summary. */
void report_json_checklist(const struct checklist_line lines[CHECKLIST], const struct metrics *m,
                           struct buf *out);

#endif
