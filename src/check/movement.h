/* What watching alone has seen of all rollouts: did the environment move? And if that is unknown,
   why, and what could show it. */
#ifndef ROLLDBG_CHECK_MOVEMENT_H
#define ROLLDBG_CHECK_MOVEMENT_H

#include "evidence/rollout_facts.h"

/* Why the effects of a rollout's steps are unknown; by precedence. */
enum unknown_reason {
	UNKNOWN_NO_SOURCE, /* no state source */
	UNKNOWN_IMPORTED,  /* recorded by another program, without states */
	UNKNOWN_COUNTS,    /* only counts and echoes changed */
	UNKNOWN_UNSHOWN,   /* the state never changed, and nobody knows whether it could */
	UNKNOWN_UNREAD,    /* some states could not be read */
	UNKNOWN_REASONS
};

/* Ready for use if zeroed. */
struct movement {
	/* Answered calls of tools that are not read-only, and of these: changed the state; changed
	   nothing; unknown. */
	int64_t acting, moved, still, unknown;
	struct span first_still; /* of the first rollout that has any */
	int64_t rollouts[UNKNOWN_REASONS];
	/* Names of read-only tools, which may read the state, of the first of these rollouts that
	   has any; escaped, separated by ", ", "..." if there are more. */
	char read_only_tools[200];
};

/* Adds a rollout that is over. */
void movement_add(struct movement *to, const struct rollout_facts *r);
/* Adds rollouts that come after those in `to`. */
void movement_absorb(struct movement *to, const struct movement *from);
/* The first reason that applies to any rollout; UNKNOWN_REASONS if there are none. */
enum unknown_reason movement_reason(const struct movement *m);

#endif
