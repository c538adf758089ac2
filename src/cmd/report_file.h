/* A file that is written under a temporary name and renamed when it is complete. */
#ifndef ROLLDBG_CMD_REPORT_FILE_H
#define ROLLDBG_CMD_REPORT_FILE_H

#include "base/buf.h"
#include "base/error.h"

#include <stdio.h>

/* Zeroed: not open. */
struct report_file {
	char *path;    /* as the user gave it */
	char *target;  /* the file behind symbolic links */
	char *partial; /* temporary name; NULL: written in place (a pipe, a device) */
	int fd;
	bool open;
	bool head_last;      /* the text is held in `body` until the head is known */
	FILE *body;          /* temporary file; NULL: none yet */
	struct error failed; /* the first error; nothing is written after it */
};

/* FAIL_SYSTEM if it cannot be written, FAIL_USAGE if a recording of ours is there. "-" is standard
   output, "/dev/stderr" standard error, whatever kind of file that is. */
MUST_USE int report_file_open(struct report_file *f, const char *path, bool head_last,
                              struct error *err);
/* Errors are kept for report_file_publish. */
void report_file_write(struct report_file *f, struct str text);
/* FAIL_USAGE if it is this file. */
MUST_USE int report_file_is_apart(const struct report_file *f, const char *path, struct error *err);
/* Writes the head, then the held text, and renames the file. FAIL_SYSTEM: the first error;
   FAIL_USAGE: a recording was written there meanwhile. */
MUST_USE int report_file_publish(struct report_file *f, struct str head, struct error *err);
void report_file_release(struct report_file *f); /* removes an unpublished file */

#endif
