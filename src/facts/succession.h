/* Rollouts one after the other, each of which begins in the state in which the one before it ended:
   the environment was not reset in between. States that come again say nothing, for an environment
   may begin anywhere. */
#ifndef ROLLDBG_FACTS_SUCCESSION_H
#define ROLLDBG_FACTS_SUCCESSION_H

#include "facts/effect.h"

#define SUCCESSION_STARTS 8 /* that are told apart; later ones are not looked at */

/* Of a recording; zeroed at its start. */
struct succession {
	struct state_copy starts[SUCCESSION_STARTS];
	size_t rollouts;
	struct state_copy end; /* of the newest one; empty: unknown */
	int64_t continued;     /* rollouts in a row, up to the newest */
	bool broken;           /* one began elsewhere, or where one had begun before */
};

/* The first state of a rollout, by its hash. `alone`: no other one is open. Returns how many
   rollouts in a row, this one included, have continued the one before; 0: one has not. */
int64_t succession_begin(struct succession *s, struct str state, bool alone);

/* The last state of a rollout, absent if unknown. */
void succession_end(struct succession *s, struct str state);

#endif
