/* Checks strings and skips containers 64 bytes at a time, for processors with AVX2. run.h stops at
   each escape, each quote and each non-ASCII character, which in prose costs a mispredicted jump
   every hundred bytes; this examines a whole block at once. A block of a string that it rejects is
   left to the scalar loop, which reports the reason. Private to src/json/. JSON_NO_AVX2 disables
   it. */
#ifndef ROLLDBG_JSON_BLOCK_H
#define ROLLDBG_JSON_BLOCK_H

#include "json/run.h"

#if defined(JSON_SSE2) && !defined(JSON_NO_AVX2)
#define JSON_AVX2 1
#include <immintrin.h>

#define AVX2        __attribute__((target("avx2,popcnt")))
#define AVX2_INLINE ALWAYS_INLINE AVX2
#define BLOCK       64

ALWAYS_INLINE bool block_supported(void)
{
	return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("popcnt");
}

struct block {
	__m256i low, high;
};

AVX2_INLINE struct block block_load(const unsigned char *p)
{
	return (struct block){_mm256_loadu_si256((const __m256i *)(const void *)p),
	                      _mm256_loadu_si256((const __m256i *)(const void *)p + 1)};
}

AVX2_INLINE __m256i avx2_each(unsigned char c)
{
	return _mm256_set1_epi8((char)c);
}

/* Looks up each byte below 0x80 by its low nibble in a table of 16; 0 for other bytes. */
AVX2_INLINE __m256i avx2_look_up(const unsigned char table[16], __m256i v)
{
	const __m128i *entries = (const __m128i *)(const void *)table;

	return _mm256_shuffle_epi8(_mm256_broadcastsi128_si256(_mm_loadu_si128(entries)), v);
}

/* The high nibble of each byte. */
AVX2_INLINE __m256i avx2_upper(__m256i v)
{
	return _mm256_and_si256(_mm256_srli_epi16(v, 4), avx2_each(0xf));
}

/* Sets all bits of each byte in least..most. */
AVX2_INLINE __m256i avx2_within(__m256i v, unsigned char least, unsigned char most)
{
	__m256i above = _mm256_sub_epi8(v, avx2_each(least));

	return _mm256_cmpeq_epi8(_mm256_min_epu8(above, avx2_each((unsigned char)(most - least))),
	                         above);
}

/* A mask has one bit for each byte of a block, the lowest for the first byte. This mask holds
   the high bits of the bytes. */
AVX2_INLINE uint64_t block_mask(__m256i low, __m256i high)
{
	return (uint32_t)_mm256_movemask_epi8(low) | (uint64_t)(uint32_t)_mm256_movemask_epi8(high)
	                                                     << 32;
}

AVX2_INLINE uint64_t block_is(struct block b, unsigned char c)
{
	return block_mask(_mm256_cmpeq_epi8(b.low, avx2_each(c)),
	                  _mm256_cmpeq_epi8(b.high, avx2_each(c)));
}

AVX2_INLINE uint64_t block_within(struct block b, unsigned char least, unsigned char most)
{
	return block_mask(avx2_within(b.low, least, most), avx2_within(b.high, least, most));
}

/* 0 for each byte allowed after a backslash, except 'u', which needs more checks. Such a byte
   has a bit in common between the entries of both its nibbles. */
AVX2_INLINE __m256i avx2_not_escapable(__m256i v)
{
	static const unsigned char upper[16] = {[2] = 1, [5] = 2, [6] = 4, [7] = 8};
	static const unsigned char lower[16] = {
		['"' & 15] = 1 | 4 | 8, /* also for 'b' and 'r' */
		['/' & 15] = 1,         ['\\' & 15] = 2, ['f' & 15] = 4,
		['n' & 15] = 4,         ['t' & 15] = 8,
	};
	__m256i both = _mm256_and_si256(avx2_look_up(upper, avx2_upper(v)), avx2_look_up(lower, v));

	return _mm256_cmpeq_epi8(both, _mm256_setzero_si256());
}

/* Finds the backslashes that start an escape and the bytes after them. In a run of backslashes
   every second one does; subtraction carries through the run and separates runs that start at
   odd positions from the others. The block must not start within an escape. */
AVX2_INLINE uint64_t block_escapes(uint64_t backslashes, uint64_t *escaped)
{
	const uint64_t odd = UINT64_C(0xaaaaaaaaaaaaaaaa);
	uint64_t both = ((backslashes << 1 | odd) - backslashes) ^ odd;

	*escaped = both ^ backslashes;
	return both & backslashes;
}

/* The positions of a u that is not followed by four hex digits. */
AVX2_INLINE uint64_t block_bad_hex(struct block b, uint64_t u)
{
	const __m256i lower = avx2_each(0x20);
	struct block folded = {_mm256_or_si256(b.low, lower), _mm256_or_si256(b.high, lower)};
	uint64_t hex = block_within(b, '0', '9') | block_within(folded, 'a', 'f');

	return (u << 1 | u << 2 | u << 3 | u << 4) & ~hex;
}

/* Faults of two consecutive bytes of UTF-8, looked up by three of their nibbles; a fault is
   present if all three agree: Keiser and Lemire, "Validating UTF-8 in less than one instruction
   per byte", 2021. */
enum utf8_fault {
	UTF8_SHORT = 1,       /* a lead byte without a continuation byte */
	UTF8_LONG = 2,        /* ASCII, then a continuation byte */
	UTF8_OVERLONG_3 = 4,  /* e0 80 to e0 9f */
	UTF8_LARGE = 8,       /* above U+10FFFF: f4 90 and more */
	UTF8_SURROGATE = 16,  /* ed a0 and more */
	UTF8_OVERLONG_2 = 32, /* c0, c1 */
	UTF8_OVERLONG_4 = 64, /* f0 80 to f0 8f, with f5 80 to f5 8f and so on */
	UTF8_CONTINUES = 128, /* two continuation bytes: correct where they are required */
	UTF8_ANY = UTF8_SHORT | UTF8_LONG | UTF8_CONTINUES,
	UTF8_ABOVE_4 = UTF8_ANY | UTF8_LARGE | UTF8_OVERLONG_4,
	UTF8_80_TO_BF = UTF8_LONG | UTF8_CONTINUES | UTF8_OVERLONG_2,
};

static const unsigned char utf8_first_upper[16] = {UTF8_LONG,
                                                   UTF8_LONG,
                                                   UTF8_LONG,
                                                   UTF8_LONG,
                                                   UTF8_LONG,
                                                   UTF8_LONG,
                                                   UTF8_LONG,
                                                   UTF8_LONG,
                                                   UTF8_CONTINUES,
                                                   UTF8_CONTINUES,
                                                   UTF8_CONTINUES,
                                                   UTF8_CONTINUES,
                                                   UTF8_SHORT | UTF8_OVERLONG_2,
                                                   UTF8_SHORT,
                                                   UTF8_SHORT | UTF8_OVERLONG_3 | UTF8_SURROGATE,
                                                   UTF8_SHORT | UTF8_LARGE | UTF8_OVERLONG_4};

static const unsigned char utf8_first_lower[16] = {UTF8_ANY | UTF8_OVERLONG_2 | UTF8_OVERLONG_3 |
                                                           UTF8_OVERLONG_4,
                                                   UTF8_ANY | UTF8_OVERLONG_2,
                                                   UTF8_ANY,
                                                   UTF8_ANY,
                                                   UTF8_ANY | UTF8_LARGE,
                                                   UTF8_ABOVE_4,
                                                   UTF8_ABOVE_4,
                                                   UTF8_ABOVE_4,
                                                   UTF8_ABOVE_4,
                                                   UTF8_ABOVE_4,
                                                   UTF8_ABOVE_4,
                                                   UTF8_ABOVE_4,
                                                   UTF8_ABOVE_4,
                                                   UTF8_ABOVE_4 | UTF8_SURROGATE,
                                                   UTF8_ABOVE_4,
                                                   UTF8_ABOVE_4};

static const unsigned char utf8_second_upper[16] = {UTF8_SHORT,
                                                    UTF8_SHORT,
                                                    UTF8_SHORT,
                                                    UTF8_SHORT,
                                                    UTF8_SHORT,
                                                    UTF8_SHORT,
                                                    UTF8_SHORT,
                                                    UTF8_SHORT,
                                                    UTF8_80_TO_BF | UTF8_OVERLONG_3 |
                                                            UTF8_OVERLONG_4,
                                                    UTF8_80_TO_BF | UTF8_OVERLONG_3 | UTF8_LARGE,
                                                    UTF8_80_TO_BF | UTF8_SURROGATE | UTF8_LARGE,
                                                    UTF8_80_TO_BF | UTF8_SURROGATE | UTF8_LARGE,
                                                    UTF8_SHORT,
                                                    UTF8_SHORT,
                                                    UTF8_SHORT,
                                                    UTF8_SHORT};

/* Nonzero for each byte at which the UTF-8 is found to be invalid. `before` holds the 32 bytes
   before v. */
AVX2_INLINE __m256i avx2_utf8_faults(__m256i v, __m256i before)
{
	__m256i middle = _mm256_permute2x128_si256(before, v, 0x21);
	__m256i back_1 = _mm256_alignr_epi8(v, middle, 15);
	__m256i back_2 = _mm256_alignr_epi8(v, middle, 14);
	__m256i back_3 = _mm256_alignr_epi8(v, middle, 13);
	__m256i back_1_lower = _mm256_and_si256(back_1, avx2_each(0xf));
	__m256i faults = _mm256_and_si256(avx2_look_up(utf8_first_upper, avx2_upper(back_1)),
	                                  avx2_look_up(utf8_first_lower, back_1_lower));
	/* Sets the high bit if the byte two before is at least e0, or the one three before at
	   least f0: a third or fourth byte is required here. */
	__m256i due = _mm256_or_si256(_mm256_subs_epu8(back_2, avx2_each(0xe0 - 0x80)),
	                              _mm256_subs_epu8(back_3, avx2_each(0xf0 - 0x80)));

	faults = _mm256_and_si256(faults, avx2_look_up(utf8_second_upper, avx2_upper(v)));
	return _mm256_xor_si256(faults, _mm256_and_si256(due, avx2_each(0x80)));
}

AVX2_INLINE uint64_t block_utf8_faults(struct block b)
{
	const __m256i zero = _mm256_setzero_si256();
	__m256i low = avx2_utf8_faults(b.low, zero);
	__m256i high = avx2_utf8_faults(b.high, b.low);

	return ~block_mask(_mm256_cmpeq_epi8(low, zero), _mm256_cmpeq_epi8(high, zero));
}

/* The number of bytes at the end of the block at p that belong to an escape or character which
   may continue in the next block. `u` marks the u of each "\u". */
ALWAYS_INLINE size_t block_unfinished(const unsigned char *p, uint64_t escapes, uint64_t u)
{
	size_t n = 1;

	if (u >> (BLOCK - 4)) {
		return (size_t)__builtin_clzll(u) + 2;
	}
	if (escapes >> (BLOCK - 1)) {
		return n;
	}
	while (n < 4 && (p[BLOCK - n] & 0xc0) == 0x80) {
		n++;
	}
	return n;
}

/* p is inside a string, not within an escape or character. Returns the closing quote, or an
   earlier position, also not within an escape or character, where less than a block is left or
   the next block contains something invalid. Everything before the result is valid. */
AVX2_INLINE const unsigned char *block_string(const unsigned char *p, const unsigned char *end)
{
	while (LIKELY(end - p >= BLOCK)) {
		struct block b = block_load(p);
		uint64_t escaped, u = 0, escapes = block_escapes(block_is(b, '\\'), &escaped);
		uint64_t quotes = block_is(b, '"') & ~escaped;
		/* up to and including the closing quote, or the whole block */
		uint64_t string = quotes ^ (quotes - 1);
		uint64_t bad = block_within(b, 0, 0x1f);
		uint64_t rare =
			escaped & block_mask(avx2_not_escapable(b.low), avx2_not_escapable(b.high));
		uint64_t beyond_ascii = block_mask(b.low, b.high);

		if (UNLIKELY(rare & string)) {
			u = escaped & block_is(b, 'u');
			bad |= (rare & ~u) | block_bad_hex(b, u);
		}
		if (beyond_ascii & string) {
			bad |= block_utf8_faults(b);
		}
		if (UNLIKELY(bad & string)) {
			return p;
		}
		if (quotes) {
			return p + __builtin_ctzll(quotes);
		}
		if (UNLIKELY((escapes | beyond_ascii) >> (BLOCK - 1) || u >> (BLOCK - 4))) {
			p -= block_unfinished(p, escapes, u);
		}
		p += BLOCK;
	}
	return p;
}

/* block_string for a string that was validated before: stops only at its closing quote, or where
   less than a block is left. */
AVX2_INLINE const unsigned char *block_text(const unsigned char *p, const unsigned char *end)
{
	while (LIKELY(end - p >= BLOCK)) {
		struct block b = block_load(p);
		uint64_t escaped, escapes = block_escapes(block_is(b, '\\'), &escaped);
		uint64_t quotes = block_is(b, '"') & ~escaped;

		if (quotes) {
			return p + __builtin_ctzll(quotes);
		}
		p += BLOCK - (escapes >> (BLOCK - 1));
	}
	return p;
}

/* One bit for each byte of a string, from its opening quote to before its closing one. `inside`:
   all bits are set if the block begins in a string. */
ALWAYS_INLINE uint64_t block_strings(uint64_t quotes, uint64_t inside)
{
	for (int shift = 1; shift < BLOCK; shift *= 2) {
		quotes ^= quotes << shift;
	}
	return quotes ^ inside;
}

/* The first closing bracket that closes as many as are open before the block and in it. */
AVX2_INLINE uint64_t block_last_closer(uint64_t opens, uint64_t closes, size_t depth)
{
	for (uint64_t rest = closes; rest; rest &= rest - 1) {
		uint64_t before = (rest & (0 - rest)) - 1;
		size_t open = depth + (size_t)__builtin_popcountll(opens & before);

		if (open - (size_t)__builtin_popcountll(closes & before) == 1) {
			return rest;
		}
	}
	return 0;
}

/* p is at an opening bracket. Returns the place after the closing one, with *depth 0; or where
   less than a block is left, with the number of open brackets and whether that is in a string, and
   not within an escape. */
AVX2_INLINE const unsigned char *block_container(const unsigned char *p, const unsigned char *end,
                                                 size_t *depth, bool *in_string)
{
	uint64_t inside = 0;

	while (end - p >= BLOCK) {
		struct block b = block_load(p);
		uint64_t escaped, escapes = block_escapes(block_is(b, '\\'), &escaped);
		uint64_t strings = block_strings(block_is(b, '"') & ~escaped, inside);
		struct block folded = {_mm256_or_si256(b.low, avx2_each(0x20)),
		                       _mm256_or_si256(b.high, avx2_each(0x20))};
		uint64_t opens = block_is(folded, '{') & ~strings;
		uint64_t closes = block_is(folded, '}') & ~strings;
		size_t closing = (size_t)__builtin_popcountll(closes);
		unsigned step = BLOCK - (unsigned)(escapes >> (BLOCK - 1));

		if (closing >= *depth) {
			uint64_t last = block_last_closer(opens, closes, *depth);

			if (last) {
				*depth = 0;
				return p + __builtin_ctzll(last) + 1;
			}
		}
		*depth += (size_t)__builtin_popcountll(opens) - closing;
		inside = 0 - (strings >> (step - 1) & 1);
		p += step;
	}
	*in_string = inside != 0;
	return p;
}

#endif
#endif
