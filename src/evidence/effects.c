/* Effects of all steps of a file: see effects.h. */
#include "evidence/effects.h"

#include "evidence/rollout_facts.h"

#include <stdlib.h>

static uint64_t key_of(struct str rollout, int64_t instance)
{
	return map_hash_with(map_hash(rollout), (uint64_t)instance);
}

const struct effect_list *effects_of(const struct effects *e, struct str rollout, int64_t instance)
{
	return map_find(&e->rollouts, key_of(rollout, instance), STR_NONE);
}

enum effect effects_at(const struct effect_list *l, int64_t position)
{
	size_t at = (size_t)position / 4;
	unsigned shift = (unsigned)(position & 3) * 2;

	return at < l->bytes ? (enum effect)(l->bits[at] >> shift & 3) : EFFECT_UNKNOWN;
}

void effect_list_set(struct effect_list *l, int64_t position, enum effect effect)
{
	size_t at = (size_t)position / 4;
	unsigned shift = (unsigned)(position & 3) * 2;

	if (at >= l->bytes) {
		size_t bytes = 2 * at + 16;

		l->bits = mem_resize(l->bits, bytes, 1);
		memset(l->bits + l->bytes, 0, bytes - l->bytes);
		l->bytes = bytes;
	}
	l->bits[at] = (unsigned char)((l->bits[at] & ~(3U << shift)) | (unsigned)effect << shift);
}

void effect_list_release(struct effect_list *l)
{
	free(l->bits);
	*l = (struct effect_list){.bytes = 0};
}

void effects_add(struct effects *e, const struct rollout_facts *r, int64_t instance)
{
	uint64_t key = key_of(r->id, instance);

	if (map_find(&e->rollouts, key, STR_NONE))
		return;
	struct effect_list *l = arena_new(&e->arena, sizeof(*l));

	for (int64_t i = 0; i < r->steps; i++)
		effect_list_set(l, r->completed[i].position, r->completed[i].effect);
	map_add(&e->rollouts, &l->item, key);
}

struct effects *effects_new(void)
{
	return mem_new(sizeof(struct effects));
}

void effects_free(struct effects *e)
{
	if (!e)
		return;
	struct effect_list **list = map_list(&e->rollouts);
	for (size_t i = 0; i < e->rollouts.count; i++)
		free(list[i]->bits);
	free(list);
	arena_release(&e->arena);
	free(e);
}
