/* The directory report/: output as text and in machine-readable formats, made from facts and
   verdicts. Computing results, opening files and parsing options are done elsewhere. */

/* Recordings and verdicts as text and JSON: tables, summaries, JSON lines. Text from a server is
   escaped before it reaches a terminal; JSON is exact. */
#pragma once

#include "check/judge.h"

struct style {
	bool color;
	size_t columns; /* width in terminal cells */
	bool terminal;  /* wrap long sentences; not in a pipe, where lines may be searched */
};

#define COLOR_BOLD   "1"
#define COLOR_FAINT  "2"
#define COLOR_RED    "31"
#define COLOR_GREEN  "32"
#define COLOR_YELLOW "33"
#define COLOR_CYAN   "36"

/* Appends text in that color, if the style has colors. */
void style_put(struct buf *out, struct style style, const char *color, struct str text);
/* The same for what is appended in between. */
void style_begin(struct buf *out, struct style style, const char *color);
void style_end(struct buf *out, struct style style);
/* Appends escaped text and a line feed; on a terminal wraps it between words, with the other lines
   indented. */
void style_wrap(struct buf *out, struct style style, struct str text, size_t indent);

/* ---- a table: one row a step ---- */

struct table;
/* live: rows are shown immediately; otherwise some are held back until the column widths are
   known */
struct table *table_new(struct style style, bool live);
void table_free(struct table *t); /* NULL is fine */
/* Appends the rows that one line of a rollout completes. A step's row is held back until its
   effect is known, one line later. Pass all lines of one rollout before those of the next. */
void table_line(struct table *t, const struct evidence_update *u, struct buf *out);

/* One turn in full: its steps, with the state before and after each, and its events. */
struct turn_view;
struct turn_view *turn_view_new(int64_t turn, struct style style);
void turn_view_free(struct turn_view *v); /* NULL is fine */
/* Pass all lines of one rollout, in order; a step is appended once its effect is known. */
void turn_view_line(struct turn_view *v, const struct evidence_update *u, struct buf *out);
bool turn_view_found(const struct turn_view *v); /* true if there was a line of that turn */

/* The next of a line's messages that the model was given for a turn: all of the reset and of earlier turns; of the
   turn's first line those before the reply, which a tap records there. None of its other lines is one. */
bool prompt_next(const struct line *l, int64_t turn, size_t *cursor, struct str *message);

/* One message of a conversation with a model: its role, then its content, indented. */
void report_message(struct str message, struct style style, struct buf *out);

/* ---- verdicts ---- */

/* The origin printed before a finding. */
enum finding_origin { ORIGIN_NONE, ORIGIN_ROLLOUT, ORIGIN_FILE_AND_ROLLOUT };

/* One of a rollout's findings, as a line. */
void report_finding(const struct rollout_verdict *v, const struct finding *f,
                    enum finding_origin origin, struct style style, struct buf *out);
/* True if an earlier one of v's findings has the rule of the i-th. */
bool report_is_repeated(const struct rollout_verdict *v, size_t i);
/* True if f, one of v's findings, is the root cause of another one. */
bool report_is_cause(const struct rollout_verdict *v, const struct finding *f);
/* A line about such a cause: what it explains, and the commands for more details. */
void report_cause(const struct rollout_verdict *v, const struct finding *f,
                  enum finding_origin origin, struct style style, struct buf *out);
/* A line with the commands for more details about a rule's findings. */
void report_more(const char *rule, struct style style, struct buf *out);
/* The conclusion over all rollouts: the number of findings, or, without findings, what that means.
   `unfinished` is the number of rollouts that did not reach their end. */
void report_conclusion(const struct judge_summary *s, int64_t unfinished, struct style style,
                       struct buf *out);
/* A line about the failed and void rollouts, by cause; nothing without any. */
void report_failures(const struct judge_summary *s, struct style style, struct buf *out);
/* "N turns · M steps · K effective · E failed · reward R" */
void report_counters(int64_t turns, int64_t steps, int64_t effective, int64_t unknown,
                     int64_t failed, const char *reward, struct buf *out);

/* ---- JSON lines (finding, rollout, summary) ---- */

void report_json_verdict(const struct rollout_verdict *v, struct buf *out);
void report_json_summary(const struct judge *j, struct buf *out);
