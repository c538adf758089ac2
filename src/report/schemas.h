/* JSON Schemas (draft 2020-12) of rolldbg's output, made from the tables that the writers, the
   reader and the manuals use. */
#pragma once

#include "base/buf.h"
#include "recording/line.h"

/* Appends the schema of a line of a recording. Like the reader, it allows unknown keys, unknown
   line types and missing keys. */
void schema_recording(struct buf *out);

/* Appends the schema of the JSON lines that the command prints; false if it prints none. */
bool schema_results(const char *command, struct buf *out);

/* The names of the types that a value may have, in T_*; none: any. */
#define TYPE_NAMES 6
size_t value_types(unsigned types, const char *out[TYPE_NAMES]);

/* ---- the JSON lines that commands print, as data (results.def) ---- */

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
