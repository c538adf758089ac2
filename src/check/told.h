/* What the user says about tools and errors, because the recording does not: which calls
   need not change a thing, and which errors are the purpose of the test. */
#ifndef ROLLDBG_CHECK_TOLD_H
#define ROLLDBG_CHECK_TOLD_H

#include "base/base.h"

struct baseline;
struct trained;

struct told {
	const char
		*read_only; /* names of tools, comma-separated, '*' for any text; NULL */
	const char *noop;   /* the same, or the value of a call's only argument; NULL */
	struct baseline *baseline; /* of tools whose hints are silent; NULL */
	struct trained *trained;   /* a trainer's log-probabilities; NULL */
	const char *const
		*errors; /* each the number of a turn, or a pattern of messages */
	size_t error_count;
};

/* Is that call declared to do nothing? `name` as spelled, `arguments` raw. */
bool told_idle(const struct told *t, struct str name, struct str arguments);

/* May a step of that turn fail, or with that message (decoded)? `came` has a place for
   each of t->errors: true from now on for those that allow it. */
bool told_error(const struct told *t, int64_t turn, struct str message, bool *came);

#endif
