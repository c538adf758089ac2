/* Compares the effects of equal calls in equal states: see chance.h. */
#include "facts/chance.h"

#include "facts/fingerprint.h"

void chance_call(struct chance_calls *r, struct str state_hash, uint64_t call)
{
	r->newest = state_hash.n ? (fingerprint(state_hash) ^ 3 * call) | 1 : 0;
}

static uint64_t *slot(struct chance *c, uint64_t key)
{
	return &c->seen[key / 2 % CHANCE_ENTRIES];
}

void chance_effect(struct chance *c, struct chance_calls *r, bool changed)
{
	size_t i = 0;

	while (i < r->count && r->still[i] != r->newest) {
		i++;
	}
	if (r->newest && changed && i < r->count) {
		*slot(c, r->newest) = r->newest;
	} else if (r->newest && !changed && i == r->count && i < CHANCE_CALLS) {
		r->still[r->count++] = r->newest;
	}
	r->newest = 0;
}

bool chance_is_seen(struct chance *c, const struct chance_calls *r)
{
	for (size_t i = 0; i < r->count; i++) {
		if (*slot(c, r->still[i]) == r->still[i]) {
			return true;
		}
	}
	return false;
}
