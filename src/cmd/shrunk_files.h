/* The files that `shrink` writes: a recording and the policy that repeats it. */
#ifndef ROLLDBG_CMD_SHRUNK_FILES_H
#define ROLLDBG_CMD_SHRUNK_FILES_H

#include "cmd/goldens.h"

/* Zeroed is fine for shrunk_files_release. */
struct shrunk_files {
	struct buf recording, policy; /* their paths */
};

/* from: the recording that is shrunk, out: what the user named, NULL: nothing. FAIL_USAGE: one of them
   is there already, and it may not be replaced. */
MUST_USE int shrunk_files_choose(struct shrunk_files *f, const char *from, const char *out,
                                 bool replace, struct error *err);
/* calls: raw JSON array. FAIL_SYSTEM. */
MUST_USE int shrunk_files_write_policy(const struct shrunk_files *f, struct str calls,
                                       const struct golden *g, struct error *err);
void shrunk_files_release(struct shrunk_files *f);

#endif
