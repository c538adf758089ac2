/* The JSON lines that commands print, as data (results.def): for the manual, the schemas and
   tests. */
#ifndef ROLLDBG_REPORT_RESULTS_H
#define ROLLDBG_REPORT_RESULTS_H

#include "recording/line.h"

enum result {
#define RESULT(id, commands, type, metrics, meaning) RESULT_##id,
#include "report/results.def"
	RESULTS,
	RESULT_NONE = RESULTS
};

struct result_line {
	const char *commands; /* comma-separated; NULL: a member of other lines */
	const char *type, *meaning;
	bool metrics; /* its members are followed by the metrics of stats/metrics.h */
};

struct result_member {
	enum result result;
	const char *name;
	unsigned types;      /* T_* */
	const char *words;   /* comma-separated; NULL: any */
	enum result inner;   /* describes an object */
	const char *meaning; /* a sentence */
};

extern const struct result_line result_lines[RESULTS];
extern const struct result_member result_members[]; /* grouped by result, in output order */
extern const size_t result_members_count;

/* True if the command prints such lines. */
bool result_is_of(const struct result_line *r, const char *command);

#endif
