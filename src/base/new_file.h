/* The one way to write a whole file: under a temporary name until it is complete, so that a reader
   never sees a part of it; never through a symbolic link; and never over a file of another
   kind, unless that was requested. (recording/recorder.h writes recordings line by line.) */
#pragma once

#include "base/buf.h"
#include "base/error.h"

#include <stdio.h>

/* What a file is, by how it begins. */
struct file_kind {
	const char *name; /* "an HTML page" */
	const char *const
		*begins; /* any of these, in ASCII of either case; NULL: any regular file */
};

extern const struct file_kind file_kind_any;

/* Is it a regular file, not a link to one, that is empty or of that kind? */
bool file_is_of_kind(const char *path, const struct file_kind *kind);

struct new_file_conf {
	const char *path; /* "-" is standard output */
	bool replace;     /* whatever file or link is there */
	/* a file of this kind is replaced without that; NULL: none. FAIL_USAGE: there is another */
	const struct file_kind *kind;
};

/* Zeroed: not open. */
struct new_file {
	struct new_file_conf conf; /* with a path of its own */
	char *path;
	char *partial; /* temporary name; NULL: published, or in place */
	bool listed;   /* for new_files_remove */
	int fd;
	bool open;
	bool in_place;       /* a pipe, a device, standard output */
	struct error failed; /* the first error; nothing is written after it */
};

/* FAIL_SYSTEM if the file cannot be written. */
MUST_USE int new_file_open(struct new_file *f, const struct new_file_conf *conf, struct error *err);

/* Errors are kept in f->failed, for new_file_publish. */
void new_file_write(struct new_file *f, struct str text);

/* Gives the file its name. FAIL_SYSTEM: the first error; FAIL_USAGE: a file that must not be replaced
   was written there meanwhile. */
MUST_USE int new_file_publish(struct new_file *f, struct error *err);
void new_file_release(struct new_file *f); /* removes an unpublished file */

/* Removes all unpublished files, in the handler of a signal that ends the process. */
void new_files_remove(void);

/* Writes a whole file. FAIL_USAGE, FAIL_SYSTEM. */
MUST_USE int new_file_put(const struct new_file_conf *conf, struct str text, struct error *err);
