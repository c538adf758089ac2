/* A file that is written under a temporary name and renamed when it is complete, so that a reader
   never sees a part of it. */
#ifndef ROLLDBG_CMD_NEW_FILE_H
#define ROLLDBG_CMD_NEW_FILE_H

#include "base/buf.h"
#include "base/error.h"

#include <stdio.h>

/* Zeroed: not open. */
struct new_file {
	char *path;    /* as the user gave it */
	char *target;  /* the file behind symbolic links */
	char *partial; /* temporary name; NULL: written in place (a pipe, a device) */
	int fd;
	bool open;
	bool report;
	bool head_last;      /* the text is held in `body` until the head is known */
	FILE *body;          /* temporary file; NULL: none yet */
	struct error failed; /* the first error; nothing is written after it */
};

struct new_file_conf {
	const char *path; /* "-" is standard output, "/dev/stderr" standard error, of any kind */
	bool replace;     /* an existing regular file; otherwise it is refused (FAIL_USAGE) */
	bool report;      /* never replaces a recording of ours: it is refused (FAIL_USAGE) */
	bool head_last;   /* new_file_publish writes its head before the text */
};

/* FAIL_SYSTEM if the file cannot be written. */
MUST_USE int new_file_open(struct new_file *f, const struct new_file_conf *conf, struct error *err);

/* Errors are kept in f->failed, for new_file_publish. */
void new_file_write(struct new_file *f, struct str text);

/* FAIL_USAGE if it would replace the file at that path, which is read. */
MUST_USE int new_file_check_input(const struct new_file *f, const char *path, struct error *err);

/* Writes the head (empty unless head_last), then the held text, and renames the file. FAIL_SYSTEM:
   the first error; FAIL_USAGE: a recording was written there meanwhile. */
MUST_USE int new_file_publish(struct new_file *f, struct str head, struct error *err);

void new_file_release(struct new_file *f); /* removes an unpublished file */

/* Writes a whole file, replacing an existing one. FAIL_SYSTEM. */
MUST_USE int new_file_put(const char *path, struct str text, struct error *err);

#endif
