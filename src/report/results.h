/* The JSON lines that commands print, as data: results.def. For the manual, the schemas and tests. */
#ifndef ROLLDBG_REPORT_RESULTS_H
#define ROLLDBG_REPORT_RESULTS_H

#include "trajectory/line.h"

enum result {
#define RESULT(id, commands, type, metrics, meaning) RESULT_##id,
#include "report/results.def"
	RESULTS,
	RESULT_NONE = RESULTS
};

struct result_line {
	const char *commands; /* comma separated; NULL: a member of other lines */
	const char *type, *meaning;
	bool metrics; /* it has the metrics of stats/metrics.h behind its members */
};

struct result_member {
	enum result result;
	const char *name;
	unsigned types;      /* T_* */
	const char *words;   /* comma separated; NULL: any */
	enum result inner;   /* what describes the object */
	const char *meaning; /* a sentence */
};

extern const struct result_line result_lines[RESULTS];
extern const struct result_member result_members[]; /* grouped by result, in writing order */
extern const size_t result_members_count;

/* Does the command print such lines? */
bool result_is_of(const struct result_line *r, const char *command);

#endif
