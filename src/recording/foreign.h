/* Recordings of other programs. The reader recognizes them by their first JSON value and passes
   each value to an importer, which returns lines of our format, so that every command that reads
   recordings also reads these. The formats themselves are in convert/, a higher layer, which
   defines foreign_formats; this file uses nothing else from there. */
#pragma once

#include "base/buf.h"
#include "base/error.h"

#include <stdio.h>

struct format;  /* a row of convert/formats.def */
struct foreign; /* state of importing one file */

#define FOREIGN_BYTES_MAX (4 * BUF_MAX_MESSAGE) /* limit on the lines made from one value */

/* What the user says about the logs of other programs. */
struct foreign_options {
	struct str tools;   /* raw JSON array, for logs without one; absent: not given */
	const char *reward; /* the column that holds the reward, where there are several; or NULL */
};
/* For all files read from now on; call before the first thread. Borrows the texts. */
void foreign_set_options(const struct foreign_options *o);

struct foreign_formats {
	/* The format that the value belongs to; NULL: none. */
	const struct format *(*recognize)(struct str value);
	/* path: the file, for formats that are several files; borrowed. */
	struct foreign *(*open)(const struct format *format, const char *path);
	/* Appends the lines made from one more value, or from each value of a list, each with a line feed and without meta.
	   FAIL_INPUT if the value is not valid in that format. */
	int (*take)(struct foreign *f, struct str value, struct buf *out, struct error *err);
	/* The same at the end of the file. */
	int (*finish)(struct foreign *f, struct buf *out, struct error *err);
	void (*close)(struct foreign *f);
	/* Describes the start of a file in an unrecognized format: sets FAIL_INPUT, with what
	   the content looks like and the supported formats, and returns true. False if it may be
	   a damaged recording of our own. */
	bool (*describe)(struct str begin, struct error *err);
	/* True if a file that begins so is an archive, for unpack: zip, Parquet, SQLite. */
	bool (*is_archive)(struct str begin);
	/* Writes the values of an archive to a file, one per line; fd must be seekable.
	   FAIL_INPUT if the archive is damaged or in no supported format. */
	int (*unpack)(int fd, FILE *out, struct error *err);
};

extern const struct foreign_formats foreign_formats;
