/* What a shard of `run` leaves when it is over: a file beside its recording that says which tasks were
   expected and done, and the content of the recorded files. Written last and under its name only
   when complete: a shard without one is not finished. */
#pragma once

#include "cmd/options/output.h"
#include "cmd/plan.h"
#include "cmd/store/recordings.h"

/* Refuses an output without a place for a manifest. FAIL_USAGE. */
MUST_USE int manifest_check(const struct plan *p, const char *out, struct error *err);

/* Writes the manifest of p->shard, or replaces one; nothing if the plan is not divided. After the
   recordings are closed. FAIL_SYSTEM. */
MUST_USE int manifest_write(const struct plan *p, const struct recordings *r, struct error *err);

/* ---- comparing manifests with what is there ---- */

/* Prints shards without a manifest, tasks that were not done and files that are not as recorded, then
   the numbers of the shards to submit again. *missing: there is one. FAIL_INPUT: the directory has no
   manifest, or manifests that do not belong together. */
MUST_USE int missing_list(const char *directory, bool json, struct output *out, bool *missing,
                          struct error *err);
