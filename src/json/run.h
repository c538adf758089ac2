/* Scans runs of bytes many at a time. Private to src/json/. Nothing here reads at or after
   `end`. Each function exists twice, with 64-bit words and with SSE2 (part of every x86-64); the
   tests compare both with a loop over bytes. JSON_PORTABLE selects the words. */
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

#define WORD_EACH(c) (UINT64_C(0x0101010101010101) * (uint64_t)(c))
#define WORD_HIGH    WORD_EACH(0x80)

ALWAYS_INLINE uint64_t word_load(const unsigned char *p)
{
	uint64_t w;

	memcpy(&w, p, sizeof(w));
	return w;
}

/* Sets the high bit of each byte of w that is below n <= 0x80. Bytes higher than one that is may
   be marked falsely: only the lowest mark is certain. */
ALWAYS_INLINE uint64_t word_below(uint64_t w, unsigned char n)
{
	return (w - WORD_EACH(n)) & ~w & WORD_HIGH;
}

ALWAYS_INLINE uint64_t word_has(uint64_t w, unsigned char c)
{
	return word_below(w ^ WORD_EACH(c), 1);
}

ALWAYS_INLINE uint64_t word_not_plain(uint64_t w)
{
	return (w & WORD_HIGH) | word_below(w, 0x20) | word_has(w, '"') | word_has(w, '\\');
}

ALWAYS_INLINE uint64_t word_not_text(uint64_t w)
{
	return word_has(w, '"') | word_has(w, '\\');
}

ALWAYS_INLINE uint64_t word_not_flat(uint64_t w)
{
	uint64_t folded = w | WORD_EACH(0x20);

	return word_has(w, '"') | word_has(folded, '{') | word_has(folded, '}');
}

#define IS_LITTLE_ENDIAN (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__)

/* words_plain(p, end): the end of the run of plain bytes at p; words_text and words_flat
   likewise. */
#define RUN_OF_WORDS(kind)                                                                         \
	ALWAYS_INLINE const unsigned char *words_##kind(const unsigned char *p,                    \
	                                                const unsigned char *end)                  \
	{                                                                                          \
		for (; end - p >= 8; p += 8) {                                                     \
			uint64_t marks = word_not_##kind(word_load(p));                            \
			if (marks && IS_LITTLE_ENDIAN) { /* the lowest byte is the first one */    \
				return p + (__builtin_ctzll(marks) >> 3);                          \
			}                                                                          \
			if (marks) {                                                               \
				break;                                                             \
			}                                                                          \
		}                                                                                  \
		while (p < end && is_##kind(*p)) {                                                 \
			p++;                                                                       \
		}                                                                                  \
		return p;                                                                          \
	}
RUN_OF_WORDS(plain)
RUN_OF_WORDS(text)
RUN_OF_WORDS(flat)

#ifdef JSON_SSE2

ALWAYS_INLINE __m128i sse2_load(const unsigned char *p)
{
	return _mm_loadu_si128((const __m128i *)(const void *)p);
}

ALWAYS_INLINE void sse2_store(char *to, __m128i v)
{
	_mm_storeu_si128((__m128i *)(void *)to, v);
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

/* p + ctz(mask), through a predicted jump: the next token starts without waiting for the length
   of this one, which gains a third of the scanner's speed if lengths repeat and costs a fifth if
   they are random. OPAQUE keeps the compiler from merging the cases into one addition. */
#define OPAQUE(x) __asm__("" : "+r"(x))
#define STEP(n)                                                                                    \
	case n:                                                                                    \
		p += (n);                                                                          \
		OPAQUE(p);                                                                         \
		break;
ALWAYS_INLINE const unsigned char *sse2_step(const unsigned char *p, unsigned mask)
{
	switch (__builtin_ctz(mask)) {
		STEP(0)
		STEP(1)
		STEP(2)
		STEP(3)
		STEP(4)
		STEP(5)
		STEP(6)
		STEP(7)
		STEP(8)
		STEP(9)
		STEP(10)
		STEP(11)
		STEP(12)
		STEP(13)
		STEP(14)
		STEP(15)
	default:
		__builtin_unreachable();
	}
	return p;
}

#define RUN_OF(kind)                                                                               \
	ALWAYS_INLINE const unsigned char *run_##kind(const unsigned char *p,                      \
	                                              const unsigned char *end)                    \
	{                                                                                          \
		for (; LIKELY(end - p >= 16); p += 16) {                                           \
			unsigned mask = sse2_not_##kind(sse2_load(p));                             \
			if (mask) {                                                                \
				return p + __builtin_ctz(mask);                                    \
			}                                                                          \
		}                                                                                  \
		return words_##kind(p, end);                                                       \
	}
#else
#define RUN_OF(kind)                                                                               \
	ALWAYS_INLINE const unsigned char *run_##kind(const unsigned char *p,                      \
	                                              const unsigned char *end)                    \
	{                                                                                          \
		return words_##kind(p, end);                                                       \
	}
#endif

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

/* RFC 3629 section 4: the length of the sequence that a lead byte starts (0: none), and the
   range of its second byte. */
struct utf8_lead {
	unsigned char n, low, high;
};

ALWAYS_INLINE struct utf8_lead utf8_lead(unsigned char c)
{
	if (c < 0xe0) {
		return (struct utf8_lead){c < 0x80 ? 1 : c < 0xc2 ? 0 : 2, 0x80, 0xbf};
	}
	if (c < 0xf0) {
		return (struct utf8_lead){3, c == 0xe0 ? 0xa0 : 0x80, c == 0xed ? 0x9f : 0xbf};
	}
	return (struct utf8_lead){c > 0xf4 ? 0 : 4, c == 0xf0 ? 0x90 : 0x80,
	                          c == 0xf4 ? 0x8f : 0xbf};
}

/* The length of the UTF-8 sequence at p < end; 0 if it is not valid. */
ALWAYS_INLINE size_t utf8_length(const unsigned char *p, const unsigned char *end)
{
	struct utf8_lead lead = utf8_lead(*p);

	if (lead.n < 2 || end - p < lead.n) {
		return lead.n == 1;
	}
	if (p[1] < lead.low || p[1] > lead.high) {
		return 0;
	}
	for (size_t i = 2; i < lead.n; i++) {
		if ((p[i] & 0xc0) != 0x80) {
			return 0;
		}
	}
	return lead.n;
}

#undef RUN_OF
#undef RUN_OF_WORDS

#endif
