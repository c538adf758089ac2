/* Sorts written members by key. Private to src/json/. */
#ifndef ROLLDBG_JSON_SORT_H
#define ROLLDBG_JSON_SORT_H

#include "base/base.h"

/* A written member: its text is out[at .. end). */
struct written_member {
	struct str key; /* decoded */
	size_t at, end;
};

/* Byte order. Most keys differ in their first byte, which needs no function call. */
ALWAYS_INLINE int key_order(struct str a, struct str b)
{
	if (a.n && b.n && a.p[0] != b.p[0])
		return (unsigned char)a.p[0] < (unsigned char)b.p[0] ? -1 : 1;
	return str_order(a, b);
}

/* Sorts adjacent, comma-separated members by key. Stable: equal keys keep their order. n log n
   comparisons. */
void sort_written(struct written_member *members, size_t n, char *out);

#endif
