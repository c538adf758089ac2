/* The directory report/kinds/: one file per kind of report; all kinds get the same cases. Which
   reports are written, and where, is up to cmd/reports.h. */

/* A report consists of cases: a rollout that was judged or replayed, a file that could not be used,
   a group of rollouts with a finding of its own. The differences of a case are passed before the
   case. Text from peers is untrusted: each kind escapes it for its format, so that it can neither
   end a value nor start a command. */
#pragma once

#include "base/new_file.h"
#include "report/differences.h"

enum report_target {
	REPORT_CONSOLE,  /* printed by the command, to standard output */
	REPORT_ANYWHERE, /* to standard output or a named file */
	REPORT_FILE,     /* to a named file; "-" is standard output */
};

enum case_result {
	CASE_PASSED,
	CASE_FAILED, /* findings that count, differences, or a refusal */
	CASE_ERROR,  /* no result: unreachable, lost, or unusable */
};

/* Valid during the call, like everything it points to. */
struct report_case {
	enum case_result result;
	const char *file; /* NULL: several files, or none */
	bool fresh_file;  /* the file name differs in each run */
	uint64_t line;    /* first line in the file; 0: unknown */
	/* absent: not about a single rollout; without a task */
	struct str rollout, task;
	uint64_t took_ms;                      /* 0: unknown */
	const struct rollout_verdict *verdict; /* NULL: not judged */
	const struct compare_count *compared;  /* NULL: not compared */
	const char *problem;                   /* why there is no result, or NULL */
	/* its state as a golden, "obsolete", "missing" or "recorded", or NULL */
	const char *golden;
	const char *hint; /* what to try, or NULL */
};

struct report_totals {
	size_t rollouts;                      /* cases about a rollout */
	size_t cases, failed, errors;         /* `failed` and `errors` are included in `cases` */
	uint64_t took_ms;                     /* all cases */
	const struct judge *judge;            /* NULL: nothing was judged */
	const struct compare_count *compared; /* NULL: nothing was compared */
};

struct report_conf {
	const char *command; /* "check" */
	const char *version; /* of rolldbg */
	/* Appends a rule's text, with the settings in it written as options (base/settings.h). */
	void (*put_text)(struct buf *out, const char *text);
};

/* Text for a failed case, shared by most kinds: a one-line title and a body with all details. Zeroed
   is empty. All text is escaped for a terminal (base/text.h). */
struct case_text {
	struct buf title; /* the worst finding, or the first difference */
	struct buf body;  /* a line for each finding and difference, and the hint */
	const char *kind; /* one word: a rule, a status, "difference", "no-result" */
	uint64_t line;    /* line in the file that the title refers to; 0: unknown */
	int rank;         /* of the difference in the title: see case_text.c */
	size_t count;     /* findings or differences */
	size_t left_out;  /* how many of them are not in the body */
	struct difference_printer printer;
};

#define CASE_TEXT_MAX ((size_t)32 << 10) /* maximum bytes of a body; further entries are counted */

struct report_kind;

struct report {
	const struct report_kind *kind;
	const struct report_conf *conf;
	struct buf *out; /* append text here */
	/* Text to put before everything in `out`, known only at the end; empty unless
	   kind->head_last. */
	struct buf head;
	/* of the next case, with its differences so far; the driver clears it */
	struct case_text text;
	void *state; /* kind->state_size bytes, initially zeroed */
};

/* Functions may be NULL. */
struct report_kind {
	struct file_kind file; /* how a report begins; without begins: never a file */
	size_t state_size;
	bool head_last;
	void (*begin)(struct report *r);
	/* at->file is the file of the difference; NULL: it is added to the case's text */
	void (*difference)(struct report *r, const struct difference_printer *at,
	                   const struct difference *d);
	void (*rollout)(struct report *r, const struct report_case *c);
	void (*end)(struct report *r, const struct report_totals *t);
	void (*release)(void *state);
};

/* A row of reports.def. */
struct report_row {
	const char *name;
	enum report_target target;
	const char *purpose;
	const struct report_kind *kind;
};
extern const struct report_row report_rows[];
extern const size_t report_row_count;

#define REPORT(kind, target, purpose) extern const struct report_kind report_kind_##kind;
#include "report/kinds/reports.def"
#undef REPORT

/* Pass a difference or a case to a report. */
void report_add_difference(struct report *r, const struct difference_printer *at,
                           const struct difference *d);
void report_add_case(struct report *r, const struct report_case *c);
/* Releases all but `out`. */
void report_release(struct report *r);

/* ---- the text of a case, for the kinds ---- */

/* Adds the case's findings or problem. The text is complete then, until case_text_clear. */
void case_text_finish(struct case_text *t, const struct report_case *c);

/* Appends the escaped id, "lake.0", or a description of a case without one: "lake, all
   samples", "the whole file". */
void case_name(const struct report_case *c, struct buf *out);
