/* Consecutive rollouts that each begin in the state in which the previous one ended: the
   environment was not reset in between. A start state that recurs is no evidence, because an
   environment may always start there. */
#ifndef ROLLDBG_FACTS_SUCCESSION_H
#define ROLLDBG_FACTS_SUCCESSION_H

#include "facts/effect.h"

/* start states that are compared; a rollout beyond them ends the succession */
#define SUCCESSION_STARTS 8

/* The data of one recording; zeroed at its start. */
struct succession {
	struct state_copy starts[SUCCESSION_STARTS];
	size_t rollouts;
	struct state_copy end; /* of the newest rollout; empty: unknown */
	int64_t continued;     /* number of consecutive rollouts, up to the newest */
	int64_t changes;       /* steps that changed the state, of all rollouts */
	bool broken;           /* a rollout began elsewhere, or where an earlier one had begun */
};

/* Adds the first state of a rollout, by its hash. `alone`: no other rollout is open. Returns how
   many consecutive rollouts, including this one, began where the previous one ended; 0 if any
   did not. */
int64_t succession_begin(struct succession *s, struct str state, bool alone);

/* Sets the last state of a rollout, absent if unknown, and adds its steps that changed the state. */
void succession_end(struct succession *s, struct str state, int64_t changes);

#endif
