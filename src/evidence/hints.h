/* The user's declarations about tools and errors, which recordings do not contain: which calls
   need not change anything, and which errors are expected. */
#pragma once

#include "base/base.h"

struct baseline;
struct trained;

struct hints {
	const char *read_only; /* tool names, comma-separated, '*' matches any text; may be NULL */
	const char *noop;      /* the same, or values of a call's only argument; may be NULL */
	struct baseline *baseline; /* for tools without hints; may be NULL */
	struct trained *trained;   /* a trainer's log-probabilities; may be NULL */
	const char *const *errors; /* each a turn number or a message pattern */
	size_t error_count;
	/* Pointers of members of the state that are effects, and that are not. */
	const char *const *effects, *const *ignored;
	size_t effect_count, ignored_count;
	bool no_names;         /* the names of bookkeeping.def count for nothing */
	int64_t min_effective; /* minimum number of effective steps per rollout; 0: none */
};

/* Is the call declared to do nothing? `name` as spelled, `arguments` raw. */
bool hints_idle(const struct hints *t, struct str name, struct str arguments);

/* Is a step of that turn, or with that (decoded) message, expected to fail? Sets came[i] for
   each t->errors[i] that matches. */
bool hints_expect_error(const struct hints *t, int64_t turn, struct str message, bool *came);
