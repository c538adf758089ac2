/* The parts of a state that do not count as a change: known bookkeeping, and pointers given by
   the user. */
#ifndef ROLLDBG_ENV_IGNORE_PATHS_H
#define ROLLDBG_ENV_IGNORE_PATHS_H

#include "base/error.h"
#include "json/canon.h"
#include "json/scan.h"

struct ignore_paths {
	struct json_paths *paths;
	struct buf json;   /* the same as a JSON array, for the header; give it a cap */
	const char *aside; /* an additional default pointer; may be NULL */
};

/* Checks that all are pointers or "none". FAIL_USAGE. */
MUST_USE int ignore_paths_check(const char *const *given, size_t count, struct error *err);

/* Ignores the given pointers. Unless "none" is among them also bookkeeping (step counts, ids),
   and renderings of other members, if the first state has them. `state` absent (unknown):
   bookkeeping is ignored; renderings are not, because one may be the whole state. -1: an invalid
   pointer. */
MUST_USE int ignore_paths_choose(struct ignore_paths *e, const char *const *given, size_t count,
                                 struct str state, struct error *err);
void ignore_paths_release(struct ignore_paths *e);

#endif
