/* Wu and Manber, "A fast algorithm for multi-pattern searching", 1994: looks at the last four bytes
   of where a part might be. If no part has them, none is there; if they are earlier in a part, the
   search moves on by the difference. With 256 ids of 32 digits it looks at every twentieth byte. */
#include "base/find_many.h"

#include "base/mem.h"

#include <stdlib.h>

#define SLOT_BITS  14 /* fits in the first-level cache */
#define PREFIX_MAX ((size_t)64)

static size_t slot_of(const char *p)
{
	uint32_t word;

	memcpy(&word, p, sizeof(word));
	return word * UINT32_C(2654435761) >> (32 - SLOT_BITS);
}

void find_many_begin(struct find_many *f, size_t least)
{
	const size_t slots = (size_t)1 << SLOT_BITS;

	f->shifts = f->shifts ? f->shifts : mem_new(slots);
	f->prefix = least < PREFIX_MAX ? least : PREFIX_MAX;
	memset(f->shifts, (int)(f->prefix - FIND_MANY_MIN + 1), slots);
}

void find_many_add(struct find_many *f, struct str part)
{
	for (size_t i = 0; i + FIND_MANY_MIN <= f->prefix; i++) {
		unsigned char *shift = &f->shifts[slot_of(part.p + i)];
		unsigned char to_end = (unsigned char)(f->prefix - FIND_MANY_MIN - i);

		*shift = to_end < *shift ? to_end : *shift;
	}
}

void find_many_release(struct find_many *f)
{
	free(f->shifts);
	*f = (struct find_many){.prefix = 0};
}

size_t find_many_next(const struct find_many *f, struct str text, size_t from)
{
	while (f->shifts && from < text.n && text.n - from >= f->prefix) {
		size_t shift = f->shifts[slot_of(text.p + from + f->prefix - FIND_MANY_MIN)];

		if (shift == 0) {
			return from;
		}
		from += shift;
	}
	return text.n;
}
