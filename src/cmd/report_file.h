/* A file that is written under another name and gets its own when it is whole. */
#ifndef ROLLDBG_CMD_REPORT_FILE_H
#define ROLLDBG_CMD_REPORT_FILE_H

#include "base/buf.h"
#include "base/error.h"

#include <stdio.h>

/* Zeroed is not open. */
struct report_file {
	char *path;    /* as the user gave it */
	char *target;  /* the file that it names, behind links */
	char *partial; /* its name until it is whole; NULL: written in place (a pipe, a device) */
	int fd;
	bool open;
	bool head_last;      /* what is appended is kept apart until the head is known */
	FILE *body;          /* there; NULL: none yet */
	struct error failed; /* the first failure: nothing is written after it */
};

/* FAIL_SYSTEM: it cannot be written. "-" is standard output, "/dev/stderr" standard
   error, whatever that is. */
MUST_USE int report_file_open(struct report_file *f, const char *path, bool head_last,
                              struct error *err);
/* Failures are kept for report_file_publish. */
void report_file_write(struct report_file *f, struct str text);
/* Writes the head, then what was kept apart, and renames. FAIL_SYSTEM: the first failure. */
MUST_USE int report_file_publish(struct report_file *f, struct str head, struct error *err);
void report_file_release(struct report_file *f); /* removes what was not published */

#endif
