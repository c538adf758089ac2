/* The final effects of all steps of a file: the first of two passes, for those that print steps. */
#pragma once

#include "base/error.h"
#include "base/map.h"
#include "base/mem.h"
#include "evidence/verdict.h"

/* Those of one rollout, by the positions of its lines of type step, from 1; two bits each. Zeroed: all
   unknown. */
struct effect_list {
	struct map_item item;
	unsigned char *bits;
	size_t bytes;
};

void effect_list_set(struct effect_list *l, int64_t position, enum effect effect);
void effect_list_release(struct effect_list *l);

struct effects {
	struct map rollouts; /* struct effect_list by id and instance */
	struct arena arena;
};

struct effects *effects_new(void);
void effects_free(struct effects *e); /* NULL is fine */

/* NULL if the file has no such rollout. instance: 1 for the first of that id, 2 .. */
const struct effect_list *effects_of(const struct effects *e, struct str rollout, int64_t instance);
/* EFFECT_UNKNOWN for a position that was not set. */
enum effect effects_at(const struct effect_list *l, int64_t position);

struct rollout_facts;
/* Adds a rollout that is over, with the number of its id's instance. */
void effects_add(struct effects *e, const struct rollout_facts *r, int64_t instance);
