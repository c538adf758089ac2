/* A run of failed steps, as used by the rules about failures: consecutive, within the episode,
   ended by a step that is answered ok or changes the state. */
#ifndef ROLLDBG_FACTS_STREAK_H
#define ROLLDBG_FACTS_STREAK_H

#include "facts/rollout_facts.h"

#define STREAK_LONG 3 /* from this length on, 98 of 100 episodes do not recover */

struct streak {
	struct span span;       /* count: failed steps without a visible change */
	int64_t unchanged;      /* those after which the state is known to be unchanged */
	char error[ERROR_TEXT]; /* of the first failure */
};

/* Adds a step. True if a streak of at least STREAK_LONG just ended: *ended is that streak. */
bool streak_add(struct streak *now, const struct completed_step *p, struct streak *ended);

/* For messages: whether the state changed during the streak's steps. */
const char *streak_state(int64_t unchanged);

#endif
