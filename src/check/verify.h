/* Checks that the hashes in a recording match its states: rules rely on the hashes. */
#ifndef ROLLDBG_CHECK_VERIFY_H
#define ROLLDBG_CHECK_VERIFY_H

#include "base/error.h"
#include "facts/rollout_facts.h"
#include "json/canon.h"

/* The pointers that a header says are ignored in states; *out is NULL if there are none.
   FAIL_INPUT. */
MUST_USE int verify_ignored(const struct line *header, struct workspace *w, struct json_paths **out,
                            struct error *err);

/* FAIL_INPUT if the line has a state and a state_hash that do not match. */
MUST_USE int verify_state(const struct line *l, const struct json_paths *ignored,
                          struct workspace *w, struct error *err);

#endif
