/* Writes a recording: append-only, under an exclusive lock, with one write() per line, so that a
   crash loses at most the unfinished line and the lines of parallel rollouts never mix.
   Thread-safe. */
#pragma once

#include "recording/line.h"

struct recorder;
struct secrets; /* recording/redact.h */

struct recorder_conf {
	const char *path; /* "-" is standard output */
	bool force;       /* replace an existing file; otherwise it is refused (FAIL_USAGE) */
	bool append;      /* continue an existing file, after checking its last line */
	bool sync;        /* call fdatasync after each line */
	bool private;     /* a new file is readable by its owner only, whatever the umask */
	const struct secrets *secrets; /* borrowed; redacted from everything written; may be NULL */
};

MUST_USE int recorder_new(const struct recorder_conf *conf, struct recorder **out,
                          struct error *err);

/* Does the line as written, with secrets redacted, stay within the readers' limit? For lines
   that may be too long. */
bool recorder_fits(const struct recorder *r, const struct line *l, struct buf *scratch,
                   size_t sizes[KEY_COUNT]);

/* Writes one line; `scratch` then holds its text and line feed. sizes: as of line_write. FAIL_SYSTEM when
   the disk is full; everything written before stays intact, and a partly written line is removed. */
MUST_USE int recorder_write(struct recorder *r, const struct line *l, struct buf *scratch,
                            size_t sizes[KEY_COUNT], struct error *err);

/* The number of the last written line in its file; 0: unknown, because the file may have had
   lines before. */
uint64_t recorder_line(struct recorder *r);

/* Closes the recording and reports errors of close(). r may be NULL. */
MUST_USE int recorder_close(struct recorder *r, struct error *err);
