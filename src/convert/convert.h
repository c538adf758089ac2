/* The folder convert/: recordings of other programs, one file a format: reading them as lines of
   our format, and writing ours in theirs. What lines mean does not belong here (facts/). */

/* The formats of other programs, made from formats.def. A format is recognized by content; it is
   read value by value, so that memory does not grow with the file; what it does not know stays
   null. */
#ifndef ROLLDBG_CONVERT_CONVERT_H
#define ROLLDBG_CONVERT_CONVERT_H

#include "base/error.h"
#include "json/scan.h"
#include "trajectory/foreign.h"
#include "trajectory/line.h"

struct import; /* convert/import.h */
struct export; /* convert/export.h */

/* A fact, named by the key that holds it. */
#define FACT(key) (UINT64_C(1) << KEY_##key)

struct format {
	const char *name;      /* for the command line, and as env.protocol of an imported header */
	const char *what;      /* whose it is and what it looks like; for lists */
	uint64_t facts;        /* FACT(..): what it can hold; recorded as env.facts */
	uint64_t also_written; /* FACT(..): what it writes besides */
	/* Is this value one of the format? Of a file, its first value is asked. */
	bool (*is)(struct str value);
	/* Reads one value, or fails with FAIL_INPUT. */
	int (*take)(struct import *m, struct str value, struct error *err);
	/* At the end of the file; NULL: nothing is left to do. */
	int (*finish)(struct import *m, struct error *err);
	/* Writes one rollout; NULL: this format is only read. */
	int (*write)(struct export *x, struct error *err);
	bool one_a_file; /* what it writes is a document: one rollout a file */
};

extern const struct format *const formats[];
extern const size_t formats_count;

/* By its name; NULL: there is none. */
const struct format *format_find(struct str name);
/* Appends the names, comma-separated, of those that are read, or written. */
void formats_list(struct buf *out, bool written);

#endif
