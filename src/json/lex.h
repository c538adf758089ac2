/* Runs of bytes, many at a time, and steps over validated JSON, of which only the end of the bytes is
   checked. Nothing here reads at or after `end`. Private to src/json/. */
#pragma once

#include "base/buf.h"

struct json_fault;

/* ---- runs ---- */

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

/* False in tests: byte by byte. */
#ifndef JSON_BLOCKS
#define JSON_BLOCKS true
#endif

/* Eight bytes as a number, the first as the lowest. */
ALWAYS_INLINE uint64_t eight_bytes(const unsigned char *p)
{
	uint64_t w;

	memcpy(&w, p, sizeof(w));
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	w = __builtin_bswap64(w);
#endif
	return w;
}

#define EACH(c) (UINT64_C(0x0101010101010101) * (c)) /* eight times the byte */
/* The highest bit of each byte that is c, or above one that is (a borrow): the lowest is exact. */
#define IS(w, c) ((((w) ^ EACH(c)) - EACH(1)) & ~((w) ^ EACH(c)))

/* The highest bit of each byte that ends the run; of those above the lowest, perhaps of others. */
ALWAYS_INLINE uint64_t ends_plain(uint64_t w)
{
	return (((w ^ EACH('"')) - EACH(1)) | ((w ^ EACH('\\')) - EACH(1)) | (w - EACH(0x20)) | w) &
	       EACH(0x80);
}

ALWAYS_INLINE uint64_t ends_text(uint64_t w)
{
	return (IS(w, '"') | IS(w, '\\')) & EACH(0x80);
}

ALWAYS_INLINE uint64_t ends_flat(uint64_t w)
{
	const uint64_t folded = w | EACH(0x20);

	return (IS(w, '"') | IS(folded, '{') | IS(folded, '}')) & EACH(0x80);
}

/* run_plain(p, end): the end of the run of plain bytes at p; run_text and run_flat likewise. */
#define RUN_OF(kind)                                                                               \
	ALWAYS_INLINE const unsigned char *run_##kind(const unsigned char *p,                      \
	                                              const unsigned char *end)                    \
	{                                                                                          \
		for (; JSON_BLOCKS && LIKELY(end - p >= 8); p += 8) {                              \
			uint64_t ends = ends_##kind(eight_bytes(p));                               \
			if (ends) {                                                                \
				return p + __builtin_ctzll(ends) / 8;                              \
			}                                                                          \
		}                                                                                  \
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
#undef IS
#undef EACH

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
