/* Where `run` records to: one file or stream for all rollouts, a directory with one file per
   rollout, or the state directory. */
#pragma once

#include "cmd/cmd.h"
#include "cmd/plan.h"
#include "recording/line.h"
#include "recording/redact/redact.h"

#define MEMBERS recording
#include "cmd/options/members.h"

/* True if it is a directory or ends in a slash. */
bool recordings_is_directory(const char *out);

/* A zeroed one may be released. */
struct recordings {
	const struct context *context;
	const struct recording_options *options;
	const struct secrets *secrets;
	struct buf path; /* path of the file; of the directory, with its slash; or "-" */
	bool directory;
	bool stored;               /* in the state directory: `latest` will point to it */
	bool created;              /* the single file did not exist before */
	struct recorder *recorder; /* of the single file; NULL for a directory */
};

/* The recording of one rollout. */
struct recording {
	struct recorder *recorder;
	struct buf path; /* path of its own file; empty: none */
	bool created;
};

/* Chooses the place and creates the directory, but no recording. FAIL_USAGE also if the file of a
   planned rollout exists. */
MUST_USE int recordings_choose(struct recordings *r, const struct context *c,
                               const struct recording_options *o, const struct plan *plan,
                               const struct secrets *secrets, struct error *err);
/* FAIL_USAGE: it is a directory with recordings, and the names of new ones are not known yet. */
MUST_USE int recordings_check_directory(const struct recordings *r, struct error *err);
/* Opens the single file; does nothing for a directory. */
MUST_USE int recordings_open(struct recordings *r, struct error *err);
/* Closes it, and removes it if nothing was written. */
MUST_USE int recordings_close(struct recordings *r, struct error *err);
void recordings_release(struct recordings *r);

/* Removes the recording if nothing was written to it; false: there is something in it. */
bool recordings_remove_empty(const char *path);

/* False for lines written before a server was reached: `latest` is not changed for a recording that
   has only those. */
bool recordings_is_worth_keeping(const struct line *l);

/* Opens the recording of one rollout; any thread. Always close it. */
MUST_USE int recording_open(const struct recordings *r, const char *rollout, struct recording *out,
                            struct error *err);
MUST_USE int recording_close(const struct recordings *r, struct recording *one, struct error *err);

/* Appends the path of a rollout's file. ASCII bytes of its id other than letters, digits and
   ._-+=,@~ are written as %XX, as is a leading dot; non-ASCII letters are kept. A long name is cut
   and ends in ~ and a hash of the id. */
void recordings_path(const struct recordings *r, struct str rollout, struct buf *out);
