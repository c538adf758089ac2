/* Sorts by insertion what most objects have, few members, and the rest with qsort. */
#include "json/sort.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

#define RUN   16   /* members that are sorted by insertion */
#define SMALL 1024 /* bytes of members that are sorted without allocation */

static void insert_all(struct written_member *m, size_t n)
{
	for (size_t i = 1; i < n; i++) {
		struct written_member one = m[i];
		size_t j = i;

		for (; j > 0 && key_order(m[j - 1].key, one.key) > 0; j--)
			m[j] = m[j - 1];
		m[j] = one;
	}
}

/* Equal keys keep their order. */
static int by_key(const void *left, const void *right)
{
	const struct written_member *a = left, *b = right;
	int order = key_order(a->key, b->key);

	return order ? order : (a->at > b->at) - (a->at < b->at);
}

void sort_written(struct written_member *m, size_t n, char *out)
{
	char small[SMALL], *to = out + m[0].at;
	const size_t begin = m[0].at, length = m[n - 1].end - begin;
	char *copy = length <= sizeof(small) ? small : mem_array(length, 1);

	memcpy(copy, to, length);
	if (n <= RUN)
		insert_all(m, n);
	else
		qsort(m, n, sizeof(*m), by_key);
	for (size_t i = 0; i < n; i++) {
		size_t size = m[i].end - m[i].at;

		if (i > 0)
			*to++ = ',';
		memcpy(to, copy + (m[i].at - begin), size);
		to += size;
	}
	if (copy != small)
		free(copy);
}
