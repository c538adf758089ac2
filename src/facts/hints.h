/* The user's declarations about tools and errors, which recordings do not contain: which calls
   need not change anything, and which errors are expected. */
#ifndef ROLLDBG_FACTS_HINTS_H
#define ROLLDBG_FACTS_HINTS_H

#include "base/base.h"

struct tool_effects;
struct trained;

struct hints {
	const char *read_only; /* tool names, comma-separated, '*' matches any text; may be NULL */
	const char *noop;      /* the same, or values of a call's only argument; may be NULL */
	struct tool_effects *baseline; /* for tools without hints; may be NULL */
	struct trained *trained;       /* a trainer's log-probabilities; may be NULL */
	const char *const *errors;     /* each a turn number or a message pattern */
	size_t error_count;
	int64_t min_effective; /* minimum number of effective steps per rollout; 0: none */
};

/* Is the call declared to do nothing? `name` as spelled, `arguments` raw. */
bool hints_idle(const struct hints *t, struct str name, struct str arguments);

/* Is a step of that turn, or with that (decoded) message, expected to fail? Sets came[i] for
   each t->errors[i] that matches. */
bool hints_expect_error(const struct hints *t, int64_t turn, struct str message, bool *came);

#endif
