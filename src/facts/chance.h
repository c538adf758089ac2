/* Calls whose effect depends on chance, as on a slippery floor: in one state a call first had no
   effect, and later in the same rollout had one. Then steps of another rollout that send this call in
   this state may have no effect either. */
#ifndef ROLLDBG_FACTS_CHANCE_H
#define ROLLDBG_FACTS_CHANCE_H

#include "base/base.h"

#define CHANCE_ENTRIES 128
#define CHANCE_CALLS   8 /* calls without effect of a rollout that are remembered */

/* The data of one recording; ready for use if zeroed. */
struct chance {
	/* The calls that had no effect and then one, each a hash of call and state; 0: none. */
	uint64_t seen[CHANCE_ENTRIES]; /* by the hash; newer ones replace older */
};

/* One rollout; zeroed at its start. */
struct chance_calls {
	uint64_t newest;              /* the call that was sent and its state; 0: not followed */
	uint64_t still[CHANCE_CALLS]; /* those without effect */
	bool moved[CHANCE_CALLS];     /* and then with one */
	size_t count;
};

/* A call was sent. state_hash: before it; absent if unknown. */
void chance_call(struct chance_calls *r, struct str state_hash, uint64_t call);
/* Its effect. Effects count once it is certain that they are not those of a clock, for example. */
void chance_effect(struct chance *c, struct chance_calls *r, bool changed, bool certain);

/* Did a call that had no effect in this rollout have one by chance? */
bool chance_is_seen(struct chance *c, const struct chance_calls *r);

#endif
