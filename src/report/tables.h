/* Tables for data tools: a row for each step, or for each rollout, with the same columns and types
   whatever the environment is. JSON values (arguments, states, observations) are text. */
#ifndef ROLLDBG_REPORT_TABLES_H
#define ROLLDBG_REPORT_TABLES_H

#include "base/buf.h"
#include "recording/reader.h"

enum table_kind { TABLE_STEPS, TABLE_ROLLOUTS };

/* Appends the columns as a JSON array of [NAME, TYPE]; TYPE is string, int64, float64 or bool_. */
void tables_columns(enum table_kind kind, struct buf *out);

struct tables;
/* Rows are appended to out: JSON lines, or comma-separated values with a title. Keeps the lines of open
   rollouts. */
struct tables *tables_new(enum table_kind kind, bool csv, struct buf *out);
void tables_free(struct tables *t); /* NULL is fine */

/* path is borrowed until the next file. */
void tables_file(struct tables *t, const char *path);
/* A line of that file; a rollout's rows follow its last line. As evidence_line. */
MUST_USE int tables_line(struct tables *t, const struct line *l, const struct reader_note *note,
                         struct error *err);
/* Ends the file: the rows of rollouts without an end line. */
void tables_file_end(struct tables *t);

#endif
