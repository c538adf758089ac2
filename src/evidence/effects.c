/* Effects of all steps of a file: see effects.h. */
#include "evidence/effects.h"

#include "evidence/evidence.h"

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
	unsigned shift = (unsigned)(position & 3) * 2;

	return position < l->count ? (enum effect)(l->bits[position / 4] >> shift & 3)
	                           : EFFECT_UNKNOWN;
}

void effects_add(struct effects *e, const struct rollout_facts *r, int64_t instance)
{
	uint64_t key = key_of(r->id, instance);

	if (map_find(&e->rollouts, key, STR_NONE)) {
		return;
	}
	struct effect_list *l = arena_new(&e->arena, sizeof(*l));

	l->count = r->steps;
	l->bits = arena_new(&e->arena, (size_t)r->steps / 4 + 1);
	for (int64_t i = 0; i < r->steps; i++) {
		unsigned effect = (unsigned)r->completed[i].effect;

		l->bits[i / 4] = (unsigned char)(l->bits[i / 4] | effect << (i & 3) * 2);
	}
	map_add(&e->rollouts, &l->item, key);
}

struct effects_reading {
	struct evidence *evidence;
	struct effects *into;
};

static void take(const struct effects_reading *r, const struct evidence_update *u)
{
	if (u->end) {
		effects_add(r->into, u->rollout, u->end->instance);
	}
}

static int take_line(void *ctx, const struct line *l, const struct reader_note *note,
                     struct error *err)
{
	const struct effects_reading *r = ctx;
	struct evidence_update u;

	if (evidence_end_unfinished(r->evidence, l, &u)) {
		take(r, &u);
	}
	if (evidence_line(r->evidence, l, note, &u, err)) {
		return -1;
	}
	take(r, &u);
	return 0;
}

int effects_read(const char *path, const struct hints *hints, bool lenient, struct effects **out,
                 struct error *err)
{
	struct evidence_conf conf = {.lenient = lenient};
	struct evidence_update u;

	conf.hints = hints ? *hints : conf.hints;
	struct effects_reading r = {evidence_new(&conf), mem_new(sizeof(*r.into))};
	int failed = reader_file(path, take_line, &r, err);
	while (evidence_end_next(r.evidence, &u)) {
		take(&r, &u);
	}
	evidence_free(r.evidence);
	*out = r.into;
	if (failed) {
		effects_free(r.into);
		*out = NULL;
	}
	return failed;
}

void effects_free(struct effects *e)
{
	if (e) {
		arena_release(&e->arena);
		free(e);
	}
}
