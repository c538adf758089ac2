/* Verifies that the hashes in a recording match its states, because rules rely on them. */
#ifndef ROLLDBG_CHECK_VERIFY_H
#define ROLLDBG_CHECK_VERIFY_H

#include "base/error.h"
#include "evidence/rollout_facts.h"
#include "json/canon.h"

/* The pointers ignored in states, from the header; *out is NULL if there are none. FAIL_INPUT. */
MUST_USE int verify_ignored(const struct line *header, struct workspace *w, struct json_paths **out,
                            struct error *err);

/* FAIL_INPUT: the line's state and state_hash do not match. */
MUST_USE int verify_state(const struct line *l, const struct json_paths *ignored,
                          struct workspace *w, struct error *err);

#endif
