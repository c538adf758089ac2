/* Recordings and verdicts for people and for programs: tables, summaries, JSON lines.
   Everything a peer wrote is escaped before it can reach a terminal; JSON stays exact. */
#ifndef ROLLDBG_REPORT_REPORT_H
#define ROLLDBG_REPORT_REPORT_H

#include "check/judge.h"

struct style {
	bool color;
	size_t columns; /* width to keep to */
	bool terminal;  /* long sentences are broken: never in a pipe, where lines are
	                   searched */
};

/* ---- a table: one row a step ---- */

struct table;
struct table *table_new(struct style style);
void table_free(struct table *t); /* NULL is fine */
/* Appends what the line lets be said; a step's row waits for the next line, which tells
 * its effect. */
void table_line(struct table *t, const struct line *l, struct buf *out);
void table_finish(struct table *t, struct buf *out); /* the row that still waits */

/* One turn in full, for people: every key with its value, pretty-printed. */
void report_turn(const struct line *l, struct style style, struct buf *out);

/* One message of a conversation with a model: who, then what, indented. */
void report_message(struct str message, struct style style, struct buf *out);

/* ---- verdicts ---- */

/* How much of where a finding is has to be said. */
enum whose { WHOSE_NOTHING, WHOSE_ROLLOUT, WHOSE_FILE_AND_ROLLOUT };

/* Findings of one rollout, a line each; nothing when there are none. */
void report_findings(const struct rollout_verdict *v, enum whose whose,
                     struct style style, struct buf *out);
/* The last word on all rollouts: how many findings, or that there are none, and then what
   may be said: `unfinished` counts the rollouts that did not run to an end of their own.
 */
void report_conclusion(const struct judge_summary *s, int64_t unfinished,
                       struct style style, struct buf *out);
/* "N turns · M steps · K effective · E failed · reward R" */
void report_counters(int64_t turns, int64_t steps, int64_t effective, int64_t unknown,
                     int64_t failed, const char *reward, struct buf *out);

/* ---- JSON lines (finding, rollout, summary) ---- */

void report_json_verdict(const struct rollout_verdict *v, struct buf *out);
void report_json_summary(const struct judge *j, struct buf *out);

#endif
