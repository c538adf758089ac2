/* Compares the start of each rollout with the end of the previous one: see succession.h. */
#include "facts/succession.h"

static void keep(struct state_copy *copy, struct str state)
{
	copy->n = state.n;
	if (state.n) {
		memcpy(copy->text, state.p, state.n);
	}
}

static bool is_known(const struct succession *s, struct str state)
{
	for (size_t i = 0; i < s->rollouts; i++) {
		if (str_eq(state_copy_hash(&s->starts[i]), state)) {
			return true;
		}
	}
	return false;
}

int64_t succession_begin(struct succession *s, struct str state, bool alone)
{
	bool first = s->rollouts == 0;
	bool continues = first || str_eq(state_copy_hash(&s->end), state);

	s->broken = s->broken || !alone || !continues || s->rollouts == SUCCESSION_STARTS ||
	            is_known(s, state);
	if (s->broken) {
		return 0;
	}
	keep(&s->starts[s->rollouts++], state);
	s->continued += !first;
	return s->continued;
}

void succession_end(struct succession *s, struct str state, int64_t changes)
{
	s->changes += changes;
	keep(&s->end, state);
}
