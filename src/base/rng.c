/* PCG-XSH-RR and unique ids: see rng.h. */
#define _DEFAULT_SOURCE /* getentropy */
#include "base/rng.h"

#include <sys/random.h>
#include <unistd.h>

#define ENTROPY_MAX ((size_t)256) /* that getentropy gives at once */

static void advance(struct rng *r)
{
	r->state = r->state * 6364136223846793005u + r->stream;
}

void rng_seed(struct rng *r, uint64_t seed, uint64_t stream)
{
	r->state = 0;
	r->stream = (stream << 1) | 1;
	advance(r);
	r->state += seed;
	advance(r);
}

uint32_t rng_next(struct rng *r)
{
	uint64_t old = r->state;
	uint32_t mixed = (uint32_t)(((old >> 18) ^ old) >> 27);
	uint32_t turn = (uint32_t)(old >> 59);

	advance(r);
	return (mixed >> turn) | (mixed << ((32 - turn) & 31));
}

uint32_t rng_below(struct rng *r, uint32_t bound)
{
	uint32_t skip = (uint32_t)(-(int64_t)bound) %
	                bound; /* draws below this would favor small results */

	for (;;) {
		uint32_t x = rng_next(r);

		if (x >= skip)
			return x % bound;
	}
}

double rng_unit(struct rng *r)
{
	return (double)rng_next(r) / 4294967296.0;
}

int rng_unique_bytes(void *out, size_t bytes)
{
	unsigned char *to = out;

	while (bytes) {
		size_t n = bytes < ENTROPY_MAX ? bytes : ENTROPY_MAX;

		if (getentropy(to, n))
			return -1;
		to += n;
		bytes -= n;
	}
	return 0;
}

int rng_unique_hex(char *out, size_t digits)
{
	static const char hex[] = "0123456789abcdef";
	unsigned char byte = 0;

	for (size_t i = 0; i < digits; i++) {
		if (i % 2 == 0 && rng_unique_bytes(&byte, 1) != 0)
			return -1;
		out[i] = hex[i % 2 ? byte & 15 : byte >> 4];
	}
	out[digits] = '\0';
	return 0;
}
