/* Where `run` records: one file or stream for all rollouts, a folder with a file for
   each, or the store. */
#ifndef ROLLDBG_CMD_RECORDINGS_H
#define ROLLDBG_CMD_RECORDINGS_H

#include "cmd/cmd.h"
#include "cmd/plan.h"
#include "trajectory/redact.h"

/* Embedded in a command's options struct. */
struct recording_options {
	const char *out;
	bool force, append, sync;
};

#define RECORDING_OPTIONS(base)                                                          \
	{'o',                                                                            \
	 "out",                                                                          \
	 "FILE|DIR/",                                                                    \
	 OPT_STR,                                                                        \
	 (base) + OPT(struct recording_options, out),                                    \
	 "write the recording to FILE; DIR/ gets one file for each rollout; - is "       \
	 "standard output, and the verdict goes to standard error (default: a new "      \
	 "file, found as the latest recording)",                                         \
	 NULL},                                                                          \
		{'f',                                                                    \
	         "force",                                                                \
	         NULL,                                                                   \
	         OPT_FLAG,                                                               \
	         (base) + OPT(struct recording_options, force),                          \
	         "overwrite what --out names",                                           \
	         NULL},                                                                  \
		{0,                                                                      \
	         "append",                                                               \
	         NULL,                                                                   \
	         OPT_FLAG,                                                               \
	         (base) + OPT(struct recording_options, append),                         \
	         "append to what --out names",                                           \
	         NULL},                                                                  \
	{                                                                                \
		0, "sync", NULL, OPT_FLAG, (base) + OPT(struct recording_options, sync), \
			"force each line to disk (fdatasync)", NULL                      \
	}

/* Is that a folder, or meant to be one? */
bool recordings_is_folder(const char *out);

/* Zeroed is fine for recordings_release. */
struct recordings {
	const struct context *context;
	const struct recording_options *options;
	const struct secrets *secrets;
	struct buf path; /* of the file or, with its slash, the folder; "-" */
	bool folder;
	bool stored;               /* it is in the store: `latest` will follow */
	bool created;              /* the one file is ours */
	struct recorder *recorder; /* of the one file; NULL: a folder */
};

/* One rollout's own. */
struct recording {
	struct recorder *recorder;
	struct buf path; /* of its own file; empty: it has none */
	bool created;
};

/* Settles where: the folder is made, no recording yet. FAIL_USAGE also where the file of
   a rollout of the plan is there already. */
MUST_USE int recordings_settle(struct recordings *r, const struct context *c,
                               const struct recording_options *o, const struct plan *plan,
                               const struct secrets *secrets, struct error *err);
/* Opens the one file; nothing to do for a folder. */
MUST_USE int recordings_open(struct recordings *r, struct error *err);
/* Closes it, and takes it away again where nothing came into it. */
MUST_USE int recordings_close(struct recordings *r, struct error *err);
void recordings_release(struct recordings *r);

/* For one rollout; any thread. To be closed in every case. */
MUST_USE int recording_open(const struct recordings *r, const char *rollout,
                            struct recording *out, struct error *err);
MUST_USE int recording_close(const struct recordings *r, struct recording *one,
                             struct error *err);

/* Appends the file in which a rollout stands. Bytes of its id that are no letters, digits
   or one of ._-+=,@~ are written as %XX, as is a dot in front; letters of other
   languages stay. */
void recordings_path(const struct recordings *r, struct str rollout, struct buf *out);

#endif
