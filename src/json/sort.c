/* Merge sort over short runs that are sorted by insertion: almost every object fits in one run. */
#include "json/sort.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

#define RUN   16
#define SMALL 1024 /* bytes of members that are sorted without allocation */

static void insert_all(struct written_member *m, size_t n)
{
	for (size_t i = 1; i < n; i++) {
		struct written_member one = m[i];
		size_t j = i;

		for (; j > 0 && key_order(m[j - 1].key, one.key) > 0; j--) {
			m[j] = m[j - 1];
		}
		m[j] = one;
	}
}

static void merge(const struct written_member *from, size_t middle, size_t n,
                  struct written_member *to)
{
	size_t left = 0, right = middle;

	for (size_t i = 0; i < n; i++) {
		bool take_left = right == n ||
		                 (left < middle && key_order(from[left].key, from[right].key) <= 0);

		to[i] = from[take_left ? left++ : right++];
	}
}

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

static void sort_members(struct written_member *members, size_t n)
{
	for (size_t i = 0; i < n; i += RUN) {
		insert_all(members + i, least(RUN, n - i));
	}
	if (n <= RUN) {
		return;
	}
	struct written_member *room = mem_array(n, sizeof(*room)), *from = members, *to = room;
	for (size_t width = RUN; width < n; width *= 2) {
		for (size_t i = 0; i < n; i += 2 * width) {
			merge(from + i, least(width, n - i), least(2 * width, n - i), to + i);
		}
		struct written_member *swap = from;
		from = to;
		to = swap;
	}
	if (from != members) {
		memcpy(members, from, n * sizeof(*members));
	}
	free(room);
}

void sort_unwritten(struct written_member *m, size_t n, const void *from, char *out)
{
	const char *bytes = from;
	const size_t begin = m[0].at;
	char *to = out + begin;

	sort_members(m, n);
	for (size_t i = 0; i < n; i++) {
		size_t size = m[i].end - m[i].at;

		if (i > 0) {
			*to++ = ',';
		}
		memcpy(to, bytes + (m[i].at - begin), size);
		to += size;
	}
}

void sort_written(struct written_member *m, size_t n, char *out)
{
	char small[SMALL];
	size_t length = m[n - 1].end - m[0].at;
	char *copy = length <= sizeof(small) ? small : mem_array(length, 1);

	memcpy(copy, out + m[0].at, length);
	sort_unwritten(m, n, copy, out);
	if (copy != small) {
		free(copy);
	}
}
