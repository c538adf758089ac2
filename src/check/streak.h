/* A run of failed steps, as the rules about failure mean it: consecutive, before
   the end of the episode, and over when a step is answered ok or the state
   changes. */
#ifndef ROLLDBG_CHECK_STREAK_H
#define ROLLDBG_CHECK_STREAK_H

#include "check/check.h"

#define STREAK_LONG 3 /* from here on 98 of 100 episodes do not recover */

struct streak {
	struct span span;       /* count: failed steps after which no change was seen */
	int64_t unchanged;      /* those after which the state is known to be the same */
	char error[ERROR_TEXT]; /* of the first one */
};

/* True when a streak of STREAK_LONG or more has just ended: *ended is it. */
bool streak_feed(struct streak *now, const struct past_step *p, struct streak *ended);

/* What is known of the state, for messages: "state never seen to change" or
   "state unknown". */
const char *streak_state(int64_t unchanged);

#endif
