/* The folder report/kinds/: one file for each kind of report, all fed with the same cases. Not
   here: which reports are wanted and where they go (cmd/reports.h). */

/* A report is about cases: a rollout that was judged or replayed, a file that could not be used, a
   group of rollouts with a finding of its own. It is told of the differences of a case first, then
   of the case. Text from peers is data in every kind: it is escaped as the format demands and
   cannot end a value or begin a command. */
#ifndef ROLLDBG_REPORT_KINDS_KIND_H
#define ROLLDBG_REPORT_KINDS_KIND_H

#include "report/differences.h"

enum report_target {
	REPORT_CONSOLE,  /* the command prints it, to standard output */
	REPORT_ANYWHERE, /* to standard output, or to a file that is named */
	REPORT_FILE,     /* to a file that must be named; "-" is standard output */
};

enum case_result {
	CASE_PASSED,
	CASE_FAILED, /* findings that count, differences, a refusal */
	CASE_ERROR,  /* no result: unreachable, lost, unusable */
};

/* Borrowed during the call, as all of it. */
struct report_case {
	enum case_result result;
	const char *file;                      /* NULL: in several, or none */
	bool fresh_file;                       /* each run has another name for it */
	uint64_t line;                         /* of the file, where it begins; 0: not known */
	struct str rollout, task;              /* absent: about no one rollout; no task */
	const struct rollout_verdict *verdict; /* NULL: not judged */
	const struct compare_count *compared;  /* NULL: not compared */
	const char *problem;                   /* why there is no result; NULL */
	const char *golden; /* "obsolete", "missing", "recorded": it is one; NULL */
	const char *hint;   /* what to try; NULL */
};

struct report_totals {
	size_t rollouts;                      /* cases that are one */
	size_t cases, failed, errors;         /* all; of these */
	const struct judge *judge;            /* NULL: nothing was judged */
	const struct compare_count *compared; /* NULL: nothing was compared */
};

struct report_conf {
	const char *command; /* "check" */
	const char *version; /* of this program */
	/* Appends a text of a rule with its settings named as the user gives them
	   (base/settings.h). */
	void (*put_text)(struct buf *out, const char *text);
};

struct report_kind;

struct report {
	const struct report_kind *kind;
	const struct report_conf *conf;
	struct buf *out; /* append here */
	/* What stands before all that was appended, known only at the end; empty unless
	   kind->head_last. */
	struct buf head;
	void *state; /* kind->state_size bytes, zeroed at first */
};

/* Functions may be NULL: not wanted. */
struct report_kind {
	size_t state_size;
	bool head_last;
	bool separate; /* the text of a verdict does not depend on the cases before it */
	void (*begin)(struct report *r);
	/* `at` says where it was found: its file */
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

#endif
