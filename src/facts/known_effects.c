/* Remembers pairs of state and call: see known_effects.h. */
#include "facts/known_effects.h"

#define STILL_MIN        4
#define CONTRADICTED_MIN 2

static struct known_effect *nth(const struct known_effects *k, size_t i)
{
	return &k->chunks[i / KNOWN_EFFECTS_CHUNK][i % KNOWN_EFFECTS_CHUNK];
}

static struct known_effect *find_or_add(struct known_effects *k, struct arena *arena,
                                        const struct known_effect *wanted)
{
	struct known_effect **chunk;

	for (size_t i = 0; i < k->count; i++) {
		struct known_effect *e = nth(k, i);

		if (e->state == wanted->state && e->call == wanted->call) {
			return e;
		}
	}
	if (k->count == KNOWN_EFFECTS_MAX) {
		return NULL;
	}
	chunk = &k->chunks[k->count / KNOWN_EFFECTS_CHUNK];
	if (!*chunk) {
		*chunk = arena_new(arena, KNOWN_EFFECTS_CHUNK * sizeof(**chunk));
	}
	struct known_effect *e = nth(k, k->count++);
	*e = (struct known_effect){.state = wanted->state, .call = wanted->call};
	return e;
}

void known_effects_add(struct known_effects *k, struct arena *arena,
                       const struct known_effect *effect, int64_t turn, int64_t step)
{
	struct known_effect *e = find_or_add(k, arena, effect);

	if (effect->changed) {
		k->by_chance = k->by_chance || (e && e->unchanged);
		k->still = (struct span){.count = 0};
		k->contradicted = 0;
	} else {
		span_add(&k->still, turn, step);
		k->contradicted += e && e->changed;
	}
	if (e) {
		e->changed = e->changed || effect->changed;
		e->unchanged = e->unchanged || effect->unchanged;
	}
}

bool known_effects_has(const struct known_effects *k, uint64_t call)
{
	for (size_t i = 0; i < k->count; i++) {
		const struct known_effect *e = nth(k, i);

		if (e->call == call && e->changed) {
			return true;
		}
	}
	return false;
}

bool known_effects_ended(const struct known_effects *k)
{
	return !k->by_chance && k->still.count >= STILL_MIN && k->contradicted >= CONTRADICTED_MIN;
}
