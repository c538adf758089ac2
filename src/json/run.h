/* Scans runs of bytes many at a time. Private to src/json/. Nothing here reads at or after
   `end`. With SSE2, which is part of every x86-64, unless JSON_PORTABLE is set; the tests compare it
   with the loop over bytes. */
#ifndef ROLLDBG_JSON_RUN_H
#define ROLLDBG_JSON_RUN_H

#include "base/base.h"

#if defined(__SSE2__) && !defined(JSON_PORTABLE)
#define JSON_SSE2 1
#include <emmintrin.h>
#endif

/* The scanner is one loop made of small inlined functions: calling them costs a third of its
   speed. */

/* plain: bytes that need no check within a string: all but '"', '\\', control characters and
   non-ASCII bytes. text: any byte but '"' and '\\', for validated strings. flat: any byte but
   '"', brackets and braces. A bracket with bit 0x20 set is a brace, and no other byte becomes
   one. */
ALWAYS_INLINE bool is_plain(unsigned char c)
{
	return c >= 0x20 && c < 0x80 && c != '"' && c != '\\';
}

ALWAYS_INLINE bool is_text(unsigned char c)
{
	return c != '"' && c != '\\';
}

ALWAYS_INLINE bool is_flat(unsigned char c)
{
	return c != '"' && (c | 0x20) != '{' && (c | 0x20) != '}';
}

ALWAYS_INLINE bool is_digit(unsigned char c)
{
	return (unsigned char)(c - '0') <= 9;
}

#ifdef JSON_SSE2

ALWAYS_INLINE __m128i sse2_load(const unsigned char *p)
{
	return _mm_loadu_si128((const __m128i *)(const void *)p);
}

ALWAYS_INLINE __m128i sse2_is(__m128i v, char c)
{
	return _mm_cmpeq_epi8(v, _mm_set1_epi8(c));
}

ALWAYS_INLINE unsigned sse2_mask(__m128i v)
{
	return (unsigned)_mm_movemask_epi8(v);
}

/* One bit for each byte that ends the run. */
ALWAYS_INLINE unsigned sse2_not_plain(__m128i v)
{
	__m128i quotes = _mm_or_si128(sse2_is(v, '"'), sse2_is(v, '\\'));

	/* as signed numbers, control characters and non-ASCII bytes are all below 0x20 */
	return sse2_mask(_mm_or_si128(quotes, _mm_cmplt_epi8(v, _mm_set1_epi8(0x20))));
}

ALWAYS_INLINE unsigned sse2_not_text(__m128i v)
{
	return sse2_mask(_mm_or_si128(sse2_is(v, '"'), sse2_is(v, '\\')));
}

ALWAYS_INLINE unsigned sse2_not_flat(__m128i v)
{
	__m128i folded = _mm_or_si128(v, _mm_set1_epi8(0x20));
	__m128i braces = _mm_or_si128(sse2_is(folded, '{'), sse2_is(folded, '}'));

	return sse2_mask(_mm_or_si128(sse2_is(v, '"'), braces));
}

/* The blocks of 16 bytes at the beginning of a run. */
#define RUN_BLOCKS(kind)                                                                           \
	for (; LIKELY(end - p >= 16); p += 16) {                                                   \
		unsigned mask = sse2_not_##kind(sse2_load(p));                                     \
		if (mask) {                                                                        \
			return p + __builtin_ctz(mask);                                            \
		}                                                                                  \
	}
#else
#define RUN_BLOCKS(kind)
#endif

/* run_plain(p, end): the end of the run of plain bytes at p; run_text and run_flat likewise. */
#define RUN_OF(kind)                                                                               \
	ALWAYS_INLINE const unsigned char *run_##kind(const unsigned char *p,                      \
	                                              const unsigned char *end)                    \
	{                                                                                          \
		RUN_BLOCKS(kind)                                                                   \
		while (p < end && is_##kind(*p)) {                                                 \
			p++;                                                                       \
		}                                                                                  \
		return p;                                                                          \
	}
RUN_OF(plain)
RUN_OF(text)
RUN_OF(flat)

/* Numbers are short, and a loop over their bytes is predictable. */
ALWAYS_INLINE const unsigned char *run_digits(const unsigned char *p, const unsigned char *end)
{
	while (p < end && is_digit(*p)) {
		p++;
	}
	return p;
}

#undef RUN_OF
#undef RUN_BLOCKS

#endif
