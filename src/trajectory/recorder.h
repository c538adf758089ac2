/* Writes a recording: append only, one exclusive lock, one write() a line, so that a
   crash loses at most the unfinished line and lines of parallel rollouts never mix. Safe
   for several threads. */
#ifndef ROLLDBG_TRAJECTORY_RECORDER_H
#define ROLLDBG_TRAJECTORY_RECORDER_H

#include "trajectory/line.h"

struct recorder;
struct secrets; /* trajectory/redact.h */

struct recorder_conf {
	const char *path; /* "-" is standard output */
	bool force;  /* an existing file is replaced; otherwise refused (FAIL_USAGE) */
	bool append; /* go on behind what is there, after looking at its last byte */
	bool sync;   /* fdatasync after each line */
	const struct secrets
		*secrets; /* borrowed; redacted before anything is written. May be NULL */
};

MUST_USE int recorder_new(const struct recorder_conf *conf, struct recorder **out,
                          struct error *err);

/* Writes one line. *written (may be NULL) is what was written, without line feed: valid
   until the calling thread's next call with the same `scratch`. FAIL_SYSTEM when the disk
   is full; everything written before stays intact, and a partly written line is cut off
   again. */
MUST_USE int recorder_write(struct recorder *r, const struct line *l, struct buf *scratch,
                            struct str *written, struct error *err);

/* Closes; reports what close() says. NULL is fine. */
MUST_USE int recorder_close(struct recorder *r, struct error *err);

#endif
