/* The parts of a state that do not count as change: known bookkeeping, and what the user asked
   for. */
#ifndef ROLLDBG_ENV_IGNORE_PATHS_H
#define ROLLDBG_ENV_IGNORE_PATHS_H

#include "base/error.h"
#include "json/canon.h"
#include "json/scan.h"

struct ignore_paths {
	struct json_paths *paths;
	struct buf json;   /* the same as a JSON array, for the header; give it a cap */
	const char *aside; /* one more pointer ignored by default; may be NULL */
};

/* Are they pointers, or "none"? FAIL_USAGE. */
MUST_USE int ignore_paths_check(const char *const *given, size_t count, struct error *err);

/* Ignores the pointers given. Unless "none" is among them also bookkeeping (counts of steps, ids) and
   renderings of other members, as far as the first state has them. `state` absent, where none is
   known: bookkeeping is ignored, and renderings are not, for one may be all the state there is.
   -1: a pointer that is none. */
MUST_USE int ignore_paths_choose(struct ignore_paths *e, const char *const *given, size_t count,
                                 struct str state, struct error *err);
void ignore_paths_release(struct ignore_paths *e);

#endif
