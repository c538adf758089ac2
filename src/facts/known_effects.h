/* Which calls changed which states: a call that changed a state before and now leaves the same
   state as it is shows that the environment no longer acts on calls, unless calls have an effect
   only sometimes. */
#ifndef ROLLDBG_FACTS_KNOWN_EFFECTS_H
#define ROLLDBG_FACTS_KNOWN_EFFECTS_H

#include "base/base.h"
#include "base/mem.h"
#include "facts/span.h"

#define KNOWN_EFFECTS_MAX   32 /* pairs of state and call; later ones are not remembered */
#define KNOWN_EFFECTS_CHUNK 8

/* Both are hashes. */
struct known_effect {
	uint64_t state, call;
	bool changed, unchanged;
};

/* Ready for use if zeroed. The list is in chunks: most rollouts need one. */
struct known_effects {
	struct known_effect *chunks[KNOWN_EFFECTS_MAX / KNOWN_EFFECTS_CHUNK];
	size_t count;
	struct span still;    /* the last consecutive steps, which changed nothing */
	int64_t contradicted; /* those of them that changed the same state before */
	bool by_chance;       /* a call changed a state that it had left unchanged before */
};

/* Adds a step whose effect is known. arena: the rollout's, which keeps the list. */
void known_effects_add(struct known_effects *k, struct arena *arena,
                       const struct known_effect *effect, int64_t turn, int64_t step);

/* Did the call change some state? */
bool known_effects_has(const struct known_effects *k, uint64_t call);

/* Did the environment stop acting on calls? */
bool known_effects_ended(const struct known_effects *k);

#endif
