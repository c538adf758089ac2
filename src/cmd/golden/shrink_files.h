/* The output files of `shrink`: a recording and a policy with the same calls. */
#ifndef ROLLDBG_CMD_GOLDEN_SHRINK_FILES_H
#define ROLLDBG_CMD_GOLDEN_SHRINK_FILES_H

#include "cmd/golden/goldens.h"

/* shrink_files_release accepts a zeroed one. */
struct shrink_files {
	struct buf recording, policy; /* their paths */
	bool replace;
};

/* Chooses the paths from `from`, the recording to shrink, and `out`, --out or NULL. FAIL_USAGE if
   one of the files exists and may not be replaced. */
MUST_USE int shrink_files_choose(struct shrink_files *f, const char *from, const char *out,
                                 bool replace, struct error *err);
/* calls: raw JSON array. FAIL_SYSTEM. */
MUST_USE int shrink_files_write_policy(const struct shrink_files *f, struct str calls,
                                       const struct golden *g, struct error *err);
void shrink_files_release(struct shrink_files *f);

#endif
