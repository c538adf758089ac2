/* Checks that the hashes of a recording are those of its states: rules trust the hashes. */
#ifndef ROLLDBG_CHECK_VERIFY_H
#define ROLLDBG_CHECK_VERIFY_H

#include "base/error.h"
#include "facts/rollout_facts.h"
#include "json/canon.h"

/* What a header says is ignored in states; *out is NULL where nothing is. FAIL_INPUT. */
MUST_USE int verify_ignored(const struct line *header, struct workspace *w, struct json_paths **out,
                            struct error *err);

/* FAIL_INPUT when the line has a state and a state_hash, and they do not belong together.
 */
MUST_USE int verify_state(const struct line *l, const struct json_paths *ignored,
                          struct workspace *w, struct error *err);

#endif
