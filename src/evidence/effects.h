/* The final effects of all steps of a file: the first of two passes, for those that print steps. */
#ifndef ROLLDBG_EVIDENCE_EFFECTS_H
#define ROLLDBG_EVIDENCE_EFFECTS_H

#include "base/error.h"
#include "base/map.h"
#include "base/mem.h"
#include "evidence/verdict.h"

struct hints;

/* Those of one rollout, two bits a step. */
struct effect_list {
	struct map_item item;
	unsigned char *bits;
	int64_t count;
};

struct effects {
	struct map rollouts; /* struct effect_list by id and instance */
	struct arena arena;
};

/* Reads the whole file (or standard input's copy). FAIL_INPUT as in reader_file. */
MUST_USE int effects_read(const char *path, const struct hints *hints, bool lenient,
                          struct effects **out, struct error *err);
void effects_free(struct effects *e); /* NULL is fine */

/* NULL if the file has no such rollout. instance: 1 for the first of that id, 2 .. */
const struct effect_list *effects_of(const struct effects *e, struct str rollout, int64_t instance);
/* Of a step by its position, from 0; EFFECT_UNKNOWN if there is none. */
enum effect effects_at(const struct effect_list *l, int64_t position);

struct rollout_facts;
/* Adds a rollout that is over. */
void effects_add(struct effects *e, const struct rollout_facts *r, int64_t instance);

#endif
