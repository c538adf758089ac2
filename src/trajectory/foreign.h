/* Recordings of other programs. The reader recognizes them by their first JSON value and passes
   each value on to an importer, which returns lines of our format: so every command that reads
   recordings reads these, too. The formats themselves are in convert/, a higher layer, which
   defines foreign_formats; nothing else of it is used here. */
#ifndef ROLLDBG_TRAJECTORY_FOREIGN_H
#define ROLLDBG_TRAJECTORY_FOREIGN_H

#include "base/buf.h"
#include "base/error.h"

#include <stdio.h>

struct format;  /* one of convert/formats.def */
struct foreign; /* the import of one file */

#define FOREIGN_BYTES_MAX (4 * BUF_MAX_MESSAGE) /* lines made of one value */

struct foreign_formats {
	/* Whose value is it? NULL: nobody's. */
	const struct format *(*recognize)(struct str value);
	struct foreign *(*open)(const struct format *format);
	/* Appends the lines that one more value gives, without meta; with each, a line feed.
	   FAIL_INPUT where it is no value of that format. */
	int (*take)(struct foreign *f, struct str value, struct buf *out, struct error *err);
	/* The same at the end of the file. */
	int (*finish)(struct foreign *f, struct buf *out, struct error *err);
	void (*close)(struct foreign *f);
	/* Of a file that begins with these bytes and is nobody's: sets FAIL_INPUT, with what it looks
	   like and which formats are read, true. False where it may be a damaged one of ours. */
	bool (*describe)(struct str begin, struct error *err);
	/* The values of an archive, one a line, in a file that can be sought in. FAIL_INPUT where it is
	   nobody's or damaged. */
	int (*unpack)(int fd, FILE *out, struct error *err);
};

extern const struct foreign_formats foreign_formats;

#endif
