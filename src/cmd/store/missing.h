/* What the shards of a divided run lack, by their manifests. */
#ifndef ROLLDBG_CMD_STORE_MISSING_H
#define ROLLDBG_CMD_STORE_MISSING_H

#include "cmd/options/output.h"

/* Prints shards without a manifest, tasks that were not done and files that are not as recorded, then
   the numbers of the shards to submit again. *missing: there is one. FAIL_INPUT: the directory has no
   manifest, or manifests that do not belong together. */
MUST_USE int missing_list(const char *directory, bool json, struct output *out, bool *missing,
                          struct error *err);

#endif
