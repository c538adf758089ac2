/* Remembers pairs of state and call: see known_effects.h. */
#include "facts/known_effects.h"

#define STILL_MIN        4
#define CONTRADICTED_MIN 2

static struct known_effect *find_or_add(struct known_effects *k, uint64_t state, uint64_t call)
{
	for (size_t i = 0; i < k->count; i++) {
		if (k->list[i].state == state && k->list[i].call == call) {
			return &k->list[i];
		}
	}
	if (k->count == KNOWN_EFFECTS_MAX) {
		return NULL;
	}
	k->list[k->count] = (struct known_effect){state, call, false, false};
	return &k->list[k->count++];
}

void known_effects_add(struct known_effects *k, uint64_t state, uint64_t call, bool changed,
                       int64_t turn, int64_t step)
{
	struct known_effect *e = find_or_add(k, state, call);

	if (changed) {
		k->by_chance = k->by_chance || (e && e->unchanged);
		k->still = (struct span){.count = 0};
		k->contradicted = 0;
	} else {
		span_add(&k->still, turn, step);
		k->contradicted += e && e->changed;
	}
	if (e) {
		e->changed = e->changed || changed;
		e->unchanged = e->unchanged || !changed;
	}
}

bool known_effects_has(const struct known_effects *k, uint64_t call)
{
	for (size_t i = 0; i < k->count; i++) {
		if (k->list[i].call == call && k->list[i].changed) {
			return true;
		}
	}
	return false;
}

bool known_effects_ended(const struct known_effects *k)
{
	return !k->by_chance && k->still.count >= STILL_MIN && k->contradicted >= CONTRADICTED_MIN;
}
