/* Effects by position: see effects.h. */
#include "debug/effects.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

void effects_release(struct effects *e)
{
	free(e->bits);
	*e = (struct effects){.bits = NULL};
}

void effects_set(struct effects *e, int64_t position, enum effect effect)
{
	size_t at = (size_t)position / 4, shift = (size_t)position % 4 * 2;

	if (at >= e->bytes) {
		size_t bytes = at * 2 + 64;

		e->bits = mem_resize(e->bits, bytes, 1);
		memset(e->bits + e->bytes, 0, bytes - e->bytes);
		e->bytes = bytes;
	}
	e->bits[at] = (unsigned char)(e->bits[at] & ~(3U << shift));
	e->bits[at] = (unsigned char)(e->bits[at] | (unsigned)effect << shift);
}

enum effect effects_at(const struct effects *e, int64_t position)
{
	size_t at = (size_t)position / 4, shift = (size_t)position % 4 * 2;

	return at < e->bytes ? (enum effect)(e->bits[at] >> shift & 3) : EFFECT_UNKNOWN;
}
