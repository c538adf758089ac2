/* Rollouts in which no step's effect is known: why, and what could show the effects. */
#ifndef ROLLDBG_CHECK_UNKNOWN_EFFECTS_H
#define ROLLDBG_CHECK_UNKNOWN_EFFECTS_H

#include "facts/rollout_facts.h"

/* By precedence. */
enum unknown_reason {
	UNKNOWN_NO_SOURCE,   /* no state source */
	UNKNOWN_IMPORTED,    /* recorded by another program, without states */
	UNKNOWN_UNSHOWN,     /* the state never differs although observations do */
	UNKNOWN_IGNORED,     /* calls change ignored members only */
	UNKNOWN_OBSERVATION, /* the observation is the state, and does not show it */
	UNKNOWN_OTHER,
	UNKNOWN_REASONS
};

/* Ready for use if zeroed. */
struct unknown_effects {
	int64_t rollouts[UNKNOWN_REASONS];
	/* Names of read-only tools, which may read the state, of the first of these rollouts that
	   has any; escaped, separated by ", ", "..." if there are more. */
	char read_only_tools[200];
};

/* Adds a completed rollout, if none of its steps has a known effect. */
void unknown_effects_add(struct unknown_effects *u, const struct rollout_facts *r);

/* Adds rollouts that come after those in `to`. */
void unknown_effects_absorb(struct unknown_effects *to, const struct unknown_effects *from);

/* Their number, for all reasons. */
int64_t unknown_effects_count(const struct unknown_effects *u);

/* The first reason that applies to any of them; UNKNOWN_REASONS if there are none. */
enum unknown_reason unknown_effects_reason(const struct unknown_effects *u);

#endif
