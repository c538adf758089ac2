/* The shortest edit script of two sequences: see align.h. */
#include "compare/align.h"

#include "base/mem.h"

#include <stdlib.h>

/* Both sequences without their common prefix and suffix. */
struct middle {
	const uint64_t *first, *second;
	int64_t n, m;
};

/* The furthest x on each diagonal k = x - y after d edits, for every d. Only every other
   diagonal from -d to d is reachable, so row d has d + 1 entries. */
struct edit_search {
	struct middle in;
	int64_t *furthest;
	size_t room;
	int64_t edits;
};

static int64_t *furthest_at(const struct edit_search *s, int64_t d, int64_t k)
{
	return &s->furthest[d * (d + 1) / 2 + (k + d) / 2];
}

static bool comes_by_insertion(const struct edit_search *s, int64_t d, int64_t k)
{
	return k == -d || (k != d && *furthest_at(s, d - 1, k - 1) < *furthest_at(s, d - 1, k + 1));
}

static int64_t furthest_on(const struct edit_search *s, int64_t d, int64_t k)
{
	int64_t x = 0;

	if (d > 0) {
		x = comes_by_insertion(s, d, k) ? *furthest_at(s, d - 1, k + 1)
		                                : *furthest_at(s, d - 1, k - 1) + 1;
	}
	while (x < s->in.n && x - k < s->in.m && s->in.first[x] == s->in.second[x - k])
		x++;
	return x;
}

/* False if there are more than ALIGN_MAX edits. */
static bool search_ends(struct edit_search *s)
{
	for (int64_t d = 0; d <= ALIGN_MAX; d++) {
		size_t places = (size_t)((d + 1) * (d + 2) / 2);

		if (places > s->room) {
			s->room = 2 * places + 64;
			s->furthest = mem_resize(s->furthest, s->room, sizeof(*s->furthest));
		}
		for (int64_t k = -d; k <= d; k += 2) {
			int64_t x = furthest_on(s, d, k);

			*furthest_at(s, d, k) = x;
			if (x >= s->in.n && x - k >= s->in.m) {
				s->edits = d;
				return true;
			}
		}
	}
	return false;
}

/* Traces the edits back from the end into the last elements of out[0 .. n + m); returns their
   number. */
static size_t trace(const struct edit_search *s, struct aligned *out)
{
	int64_t x = s->in.n, y = s->in.m;
	size_t room = (size_t)(x + y), at = room;

	for (int64_t d = s->edits; d >= 0; d--) {
		int64_t k = x - y;
		bool insertion = d > 0 && comes_by_insertion(s, d, k);
		int64_t from = d == 0 ? 0 : *furthest_at(s, d - 1, insertion ? k + 1 : k - 1);
		int64_t until = d == 0 ? 0 : from + !insertion;

		while (x > until)
			out[--at] = (struct aligned){ALIGN_BOTH, (size_t)--x, (size_t)--y};
		if (d > 0) {
			x -= !insertion;
			y -= insertion;
			out[--at] = (struct aligned){insertion ? ALIGN_SECOND : ALIGN_FIRST,
			                             (size_t)x, (size_t)y};
		}
	}
	return room - at;
}

static size_t all_different(const struct middle *in, struct aligned *out)
{
	size_t count = 0;

	for (int64_t x = 0; x < in->n; x++)
		out[count++] = (struct aligned){ALIGN_FIRST, (size_t)x, 0};
	for (int64_t y = 0; y < in->m; y++)
		out[count++] = (struct aligned){ALIGN_SECOND, (size_t)in->n, (size_t)y};
	return count;
}

static size_t align_middle(const struct middle *in, struct aligned *out)
{
	struct edit_search s = {.in = *in};
	size_t room = (size_t)(in->n + in->m), count;

	if (search_ends(&s)) {
		count = trace(&s, out);
		memmove(out, out + room - count, count * sizeof(*out));
	} else {
		count = all_different(in, out);
	}
	free(s.furthest);
	return count;
}

size_t align(const uint64_t *first, size_t n, const uint64_t *second, size_t m, struct aligned *out)
{
	size_t begin = 0, end = 0, count;

	while (begin < n && begin < m && first[begin] == second[begin]) {
		out[begin] = (struct aligned){ALIGN_BOTH, begin, begin};
		begin++;
	}
	while (end < n - begin && end < m - begin && first[n - 1 - end] == second[m - 1 - end])
		end++;
	const struct middle in = {first + begin, second + begin, (int64_t)(n - begin - end),
	                          (int64_t)(m - begin - end)};
	count = begin + align_middle(&in, out + begin);
	for (size_t i = begin; i < count; i++) {
		out[i].first += begin;
		out[i].second += begin;
	}
	for (size_t i = 0; i < end; i++)
		out[count++] = (struct aligned){ALIGN_BOTH, n - end + i, m - end + i};
	return count;
}
