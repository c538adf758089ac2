/* Where `run` records: one file or stream for all rollouts, a folder with one file per rollout,
   or the store. */
#ifndef ROLLDBG_CMD_RECORDINGS_H
#define ROLLDBG_CMD_RECORDINGS_H

#include "cmd/cmd.h"
#include "cmd/plan.h"
#include "trajectory/line.h"
#include "trajectory/redact.h"

/* Embedded in a command's options struct. */
struct recording_options {
	const char *out;
	bool force, append, sync;
};

extern const struct option_group recording_group;

/* Is it a folder, or does it end in a slash? */
bool recordings_is_folder(const char *out);

/* A zeroed one may be released. */
struct recordings {
	const struct context *context;
	const struct recording_options *options;
	const struct secrets *secrets;
	struct buf path; /* path of the file or, with its slash, of the folder; "-" */
	bool folder;
	bool stored;               /* it is in the store: `latest` will point to it */
	bool created;              /* this program created the single file */
	struct recorder *recorder; /* of the single file; NULL: a folder */
};

/* The recording of one rollout. */
struct recording {
	struct recorder *recorder;
	struct buf path; /* of its own file; empty: none */
	bool created;
};

/* Chooses where: the folder is made, no recording yet. FAIL_USAGE also where the file of
   a rollout of the plan is there already. */
MUST_USE int recordings_choose(struct recordings *r, const struct context *c,
                               const struct recording_options *o, const struct plan *plan,
                               const struct secrets *secrets, struct error *err);
/* Opens the single file; does nothing for a folder. */
MUST_USE int recordings_open(struct recordings *r, struct error *err);
/* Closes it, and removes it if nothing was written. */
MUST_USE int recordings_close(struct recordings *r, struct error *err);
void recordings_release(struct recordings *r);

/* Does the line tell anything beyond that no server was reached? `latest` waits for such a one. */
bool recordings_is_worth_keeping(const struct line *l);

/* For one rollout; any thread. Must always be closed. */
MUST_USE int recording_open(const struct recordings *r, const char *rollout, struct recording *out,
                            struct error *err);
MUST_USE int recording_close(const struct recordings *r, struct recording *one, struct error *err);

/* Appends the path of a rollout's file. ASCII bytes of its id other than letters, digits and
   ._-+=,@~ are written as %XX, as is a leading dot; other letters are kept. */
void recordings_path(const struct recordings *r, struct str rollout, struct buf *out);

#endif
