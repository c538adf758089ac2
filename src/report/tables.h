/* Tables for data tools: a row for each step, or for each rollout, with the same columns and types
   whatever the environment is. */
#pragma once

#include "base/buf.h"
#include "recording/reader.h"

enum table_kind { TABLE_STEPS, TABLE_ROLLOUTS };
enum table_form {
	TABLE_LINES, /* JSON lines of scalars; JSON values are text in them */
	TABLE_CSV,
	TABLE_VALUES, /* JSON lines of a command: with a type, JSON values as they are */
};

/* Appends the columns as a JSON array of [NAME, TYPE]; TYPE is string, int64, float64 or bool_. */
void tables_columns(enum table_kind kind, struct buf *out);

struct tables;
/* Rows are appended to out; comma-separated values begin with a title. Keeps the lines of open rollouts,
   which need no header. */
struct tables *tables_new(enum table_kind kind, enum table_form form, struct buf *out);
void tables_free(struct tables *t); /* NULL is fine */

/* path is borrowed until the next file. */
void tables_file(struct tables *t, const char *path);
/* A line of that file; a rollout's rows follow its last line. As evidence_line. */
MUST_USE int tables_line(struct tables *t, const struct line *l, const struct reader_note *note,
                         struct error *err);
/* Ends the file: the rows of rollouts without an end line. */
void tables_file_end(struct tables *t);
size_t tables_count(const struct tables *t); /* rows so far */
