/* The directory convert/: recordings of other programs, one file per format: reading them as lines
   of rolldbg's format, and writing rolldbg's recordings in theirs. The meaning of lines is defined
   in evidence/. */

/* The formats of other programs, generated from formats.def. A format is detected by content and
   read value by value, so that memory does not grow with the file; facts that it does not record
   become null. */
#pragma once

#include "base/error.h"
#include "json/scan.h"
#include "recording/foreign.h"
#include "recording/line.h"

struct import; /* convert/import.h */
struct export; /* convert/export.h */

/* How rollouts are written in a format. */
struct format_writer {
	/* Writes one rollout. */
	int (*write)(struct export *x, struct error *err);
	uint64_t also_written; /* FACT(..) that only this supports */
	/* Of the rows that it writes, for a Parquet file, as in parquet_write; NULL: it writes no rows. */
	const char *columns;
	bool one_a_file; /* writes one document, that is, one rollout per file */
};

struct format {
	const char *name; /* for the command line, and as env.protocol of an imported header */
	const char *what; /* its origin and its shape; for lists */
	const struct mapping *map; /* convert/map_format.c; NULL: not a map */
	uint64_t facts;            /* FACT(..) that it can hold; recorded as env.facts */
	/* True if the value is of this format. Called with the first value of a file; where there is no
	   `finish`, with every value. */
	bool (*is)(struct str value);
	/* Reads one value; fails with FAIL_INPUT. */
	int (*take)(struct import *m, struct str value, struct error *err);
	/* Called at the end of a list of values; NULL: its values are like those of a file. */
	int (*take_list_end)(struct import *m, struct error *err);
	/* Called at the end of the file; NULL: not needed. */
	int (*finish)(struct import *m, struct error *err);
	const struct format_writer *writer; /* NULL: the format is read-only */
};

extern const struct format *const formats[];
extern const size_t formats_count;

/* Reads the description of a format by the user: a map. FAIL_INPUT, with file, line and key. Free the
   format with map_free. */
MUST_USE int map_read(const char *path, struct format **out, struct error *err);
void map_free(struct format *format); /* NULL is fine */

/* Finds a format by name; NULL: there is none. */
const struct format *format_find(struct str name);
