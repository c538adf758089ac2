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

void chance_effect(struct chance *c, struct chance_calls *r, bool changed, bool certain)
{
	size_t i = 0;

	while (i < r->count && r->still[i] != r->newest) {
		i++;
	}
	if (i < r->count) {
		r->moved[i] = r->moved[i] || changed;
	} else if (r->newest && !changed && i < CHANCE_CALLS) {
		r->still[r->count++] = r->newest;
	}
	for (i = 0; i < r->count && certain; i++) {
		if (r->moved[i]) {
			*slot(c, r->still[i]) = r->still[i];
		}
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
