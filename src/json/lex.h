/* Runs of bytes, many at a time, and steps over validated JSON, of which only the end of the bytes is
   checked. Nothing here reads at or after `end`. Private to src/json/. */
#ifndef ROLLDBG_JSON_LEX_H
#define ROLLDBG_JSON_LEX_H

#include "base/buf.h"

struct json_fault;

/* ---- runs: with SSE2, which is part of every x86-64, unless JSON_PORTABLE is set ---- */

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
	while (p < end && is_digit(*p))
		p++;
	return p;
}

#undef RUN_OF
#undef RUN_BLOCKS

/* ---- tokens ---- */

ALWAYS_INLINE bool lex_is_blank(unsigned char c)
{
	return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

ALWAYS_INLINE const unsigned char *lex_blanks(const unsigned char *p, const unsigned char *end)
{
	while (p < end && *p <= ' ' && lex_is_blank(*p)) /* few bytes need the second test */
		p++;
	return p;
}

/* From within a string, but not within an escape, to just after the closing quote. */
const unsigned char *lex_string_rest(const unsigned char *p, const unsigned char *end);

/* From the opening quote to just after the closing one. */
ALWAYS_INLINE const unsigned char *lex_string(const unsigned char *p, const unsigned char *end)
{
	p++;
	p = run_text(p, end);
	if (LIKELY(p < end && *p == '"'))
		return p + 1;
	return lex_string_rest(p, end);
}

/* From any byte of a number or literal to just after it: the bytes of both are above the comma. */
ALWAYS_INLINE const unsigned char *lex_word(const unsigned char *p, const unsigned char *end)
{
	while (p < end && ((*p > ',' && *p != ']' && *p != '}') || *p == '+'))
		p++;
	return p;
}

/* From an opening bracket or brace to just after the closing one. */
const unsigned char *lex_container(const unsigned char *p, const unsigned char *end);

/* From the first byte of a value to just after it. */
ALWAYS_INLINE const unsigned char *lex_value(const unsigned char *p, const unsigned char *end)
{
	if (p == end)
		return p;
	if (*p == '"')
		return lex_string(p, end);
	return *p == '{' || *p == '[' ? lex_container(p, end) : lex_word(p, end);
}

ALWAYS_INLINE struct str lex_slice(const unsigned char *begin, const unsigned char *end)
{
	return (struct str){(const char *)begin, (size_t)(end - begin)};
}

ALWAYS_INLINE const unsigned char *lex_begin(struct str s)
{
	return (const unsigned char *)s.p;
}

ALWAYS_INLINE const unsigned char *lex_end(struct str s)
{
	/* an absent slice has a NULL end */
	return s.n ? (const unsigned char *)s.p + s.n : (const unsigned char *)s.p;
}

/* Like json_validate, but also returns the value without surrounding whitespace. */
MUST_USE int lex_validate(struct str text, struct str *value, struct json_fault *fault);

/* Decodes one escape sequence: *p is at its backslash and moves past it; a surrogate pair counts
   as one. Returns the code point, or a lone surrogate. */
uint32_t lex_unescape(const unsigned char **p, const unsigned char *end);

ALWAYS_INLINE bool lex_is_surrogate(uint32_t code)
{
	return code >> 11 == 0xd800 >> 11;
}

/* Writes a code point in decoded form: UTF-8, or its escape if it is a lone surrogate. Returns
   the length. */
size_t lex_text(uint32_t code, char out[6]);

/* Writes a code point as in a canonical string (RFC 8785 section 3.2.2.2). Returns the
   length. */
size_t lex_canonical(uint32_t code, char out[6]);

/* Like json_decode, without the quotes, into room for s.n bytes. */
bool lex_decode(struct str inner, char *out, size_t *n);

/* The rest of lex_key_is, for a string with an escape. */
bool lex_escaped_is(struct str inner, struct str decoded);

/* Does a string, given without its quotes, decode to that text? */
ALWAYS_INLINE bool lex_key_is(struct str inner, struct str decoded)
{
	/* an escape is not shorter than its decoded text, and at most six times as long */
	bool other = inner.n < decoded.n || inner.n > 6 * decoded.n ||
	             (decoded.n && inner.p[0] != decoded.p[0] && inner.p[0] != '\\');

	return !other && (str_eq(inner, decoded) ||
	                  (memchr(inner.p, '\\', inner.n) && lex_escaped_is(inner, decoded)));
}

/* Decodes one token of a JSON Pointer, given without its '/': RFC 6901 section 3, and with
   `wild` also "~2" for '*'. False for any other use of '~'. Appends at most raw.n bytes. */
bool lex_token(struct str raw, bool wild, struct buf *out);

/* Parses an array index as in RFC 6901: digits without a leading zero. */
bool lex_index(struct str token, size_t *out);

/* Removes and returns the first token of a pointer that begins with '/'. */
ALWAYS_INLINE struct str lex_first_token(struct str *pointer)
{
	const char *begin = pointer->p + 1, *end = pointer->p + pointer->n;
	const char *slash = memchr(begin, '/', (size_t)(end - begin));
	struct str raw = {begin, (size_t)((slash ? slash : end) - begin)};

	*pointer = str_skip(*pointer, raw.n + 1);
	return raw;
}

#endif
