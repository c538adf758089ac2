/* The parts of a state that do not count as a change: known bookkeeping, and pointers given by
   the user. */
#pragma once

#include "env/env.h"

/* Zeroed: none chosen. */
struct ignore_paths {
	struct json_paths *paths;
	struct buf json;   /* the same as a JSON array, for the header */
	const char *aside; /* an additional default pointer; may be NULL */
};

/* Is "none" among conf's: does every member of the state count? */
bool ignore_paths_all_count(const struct env_conf *conf);
/* Checks that all of conf's are pointers or "none". FAIL_USAGE. */
MUST_USE int ignore_paths_check(const struct env_conf *conf, struct error *err);

/* Ignores conf's pointers, in place of those chosen before. Unless "none" is among them also bookkeeping (step counts, ids),
   and renderings of other members, if the first state has them. `state` absent (unknown):
   bookkeeping is ignored; renderings are not, because one may be the whole state. -1: an invalid
   pointer. */
MUST_USE int ignore_paths_choose(struct ignore_paths *e, const struct env_conf *conf,
                                 struct str state, struct error *err);
/* The same for a session, whose facts are set. */
MUST_USE int ignore_paths_of_session(struct ignore_paths *e, struct env *env,
                                     const struct env_conf *conf, struct str first,
                                     struct error *err);
void ignore_paths_release(struct ignore_paths *e);
