/* Substring search: see find.h. */
#define _GNU_SOURCE /* memmem */
#include "base/find.h"

#ifdef __SSE2__
#include <immintrin.h>

#define SHORT_MAX ((size_t)64) /* limits the cost of one comparison; longer parts use memmem */
#define BLOCK     ((size_t)16)

static __m128i load(const char *p)
{
	return _mm_loadu_si128((const __m128i *)(const void *)p);
}

/* Tests 16 positions from p on: only those where the first and the last byte match are compared. */
static inline bool is_at(const char *p, struct str part, __m128i first, __m128i last)
{
	__m128i begins = _mm_cmpeq_epi8(load(p), first);
	__m128i ends = _mm_cmpeq_epi8(load(p + part.n - 1), last);
	unsigned places = (unsigned)_mm_movemask_epi8(_mm_and_si128(begins, ends));

	for (; UNLIKELY(places); places &= places - 1) {
		if (memcmp(p + __builtin_ctz(places), part.p, part.n) == 0) {
			return true;
		}
	}
	return false;
}

/* Tests the positions from *at on, 32 at a time, as far as the text reaches. */
static __attribute__((target("avx2"))) bool find_avx2(struct str text, struct str part, size_t *at)
{
	const __m256i first = _mm256_set1_epi8(part.p[0]);
	const __m256i last = _mm256_set1_epi8(part.p[part.n - 1]);

	for (; text.n - *at >= part.n - 1 + 2 * BLOCK; *at += 2 * BLOCK) {
		const char *p = text.p + *at;
		__m256i begins = _mm256_loadu_si256((const __m256i *)(const void *)p);
		__m256i ends = _mm256_loadu_si256((const __m256i *)(const void *)(p + part.n - 1));
		__m256i both = _mm256_and_si256(_mm256_cmpeq_epi8(begins, first),
		                                _mm256_cmpeq_epi8(ends, last));
		unsigned places = (unsigned)_mm256_movemask_epi8(both);

		for (; UNLIKELY(places); places &= places - 1) {
			if (memcmp(p + __builtin_ctz(places), part.p, part.n) == 0) {
				return true;
			}
		}
	}
	return false;
}

static bool find_short(struct str text, struct str part)
{
	const __m128i first = _mm_set1_epi8(part.p[0]), last = _mm_set1_epi8(part.p[part.n - 1]);
	size_t at = 0;

	if (text.n < part.n - 1 + BLOCK) {
		return memmem(text.p, text.n, part.p, part.n) != NULL;
	}
	if (__builtin_cpu_supports("avx2") && find_avx2(text, part, &at)) {
		return true;
	}
	for (; text.n - at >= part.n - 1 + BLOCK; at += BLOCK) {
		if (is_at(text.p + at, part, first, last)) {
			return true;
		}
	}
	/* the rest, with some positions again */
	return is_at(text.p + text.n - (part.n - 1 + BLOCK), part, first, last);
}
#endif

bool find_in(struct str text, struct str part)
{
	if (text.n < part.n) {
		return false;
	}
#ifdef __SSE2__
	if (part.n <= SHORT_MAX) {
		return find_short(text, part);
	}
#endif
	return memmem(text.p, text.n, part.p, part.n) != NULL;
}

size_t find_at(struct str text, struct str part)
{
	struct str rest = text;

	while (rest.n && !str_starts(rest, part)) {
		const char *at = memchr(rest.p + 1, part.p[0], rest.n - 1);

		rest = at ? str_skip(rest, (size_t)(at - rest.p)) : STR_NONE;
	}
	return rest.n ? (size_t)(rest.p - text.p) : text.n;
}
