/* Locates the lines of a large recording in several threads: each reads a part of the file. */
#ifndef ROLLDBG_TRAJECTORY_LOCATE_H
#define ROLLDBG_TRAJECTORY_LOCATE_H

#include "base/mem.h"

/* Consecutive lines with one rollout id, of which only the first may be a header. */
struct located_run {
	struct str id;
	bool header;
	uint64_t begin, end; /* bytes in the file; the end is after the last line's line feed */
	uint64_t line;       /* number of the first line */
};

struct located {
	struct located_run *runs; /* in the order of the file */
	size_t count;
	struct arena arena; /* owns the ids */
};

/* A regular file in our own format, read by position: `fd` if that is not negative, otherwise
   `path`. */
struct locate_source {
	const char *path;
	int fd;
};

/* False, with nothing in *out, if the file is not large, or contains a line that cannot be located
   in isolation: two objects on one line, a truncated or invalid line. Then locate the lines in
   sequence. */
bool locate_in_threads(const struct locate_source *file, size_t jobs, struct located *out);
void located_release(struct located *l); /* zeroed is fine */

#endif
