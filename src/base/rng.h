/* A small seeded generator (PCG-XSH-RR 64/32, O'Neill 2014): the same seed gives the same
   draws on every machine. Not for secrets. */
#pragma once

#include "base/base.h"

struct rng {
	uint64_t state, stream;
};

void rng_seed(struct rng *r, uint64_t seed, uint64_t stream);
uint32_t rng_next(struct rng *r);
uint32_t rng_below(struct rng *r, uint32_t bound); /* 0 .. bound-1, unbiased; bound > 0 */
double rng_unit(struct rng *r);                    /* [0, 1) */

/* Bytes from the kernel's random generator. Returns -1 with errno on failure. */
MUST_USE int rng_unique_bytes(void *out, size_t bytes);

/* Hex digits from the kernel's random generator, for session ids, which must differ between
   runs. */
MUST_USE int rng_unique_hex(char *out, size_t digits); /* writes digits + NUL */
