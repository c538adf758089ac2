/* The effects of a rollout's steps by position, two bits each. */
#ifndef ROLLDBG_DEBUG_EFFECTS_H
#define ROLLDBG_DEBUG_EFFECTS_H

#include "facts/effect.h"

#include <stddef.h>
#include <stdint.h>

/* Zeroed: all unknown. */
struct effects {
	unsigned char *bits;
	size_t bytes;
};

void effects_release(struct effects *e);
void effects_set(struct effects *e, int64_t position, enum effect effect);
/* EFFECT_UNKNOWN for a position that was not set. */
enum effect effects_at(const struct effects *e, int64_t position);

#endif
