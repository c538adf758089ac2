/* Checks strings, numbers and words. Private to src/json/. */
#ifndef ROLLDBG_JSON_SCALAR_H
#define ROLLDBG_JSON_SCALAR_H

#include "json/block.h"
#include "json/lex.h"
#include "json/scan.h"

/* What was seen in this text so far. */
struct seen {
	/* the last long string, valid, with its closing quote but without the opening one */
	const unsigned char *string;
	size_t string_n;
	bool line_feed; /* between tokens */
};

struct scan {
	const unsigned char *begin, *end;
	struct json_fault *fault;
	struct seen *seen;
	bool has_blocks; /* the processor supports AVX2 blocks */
};

ALWAYS_INLINE struct scan scan_of(struct str text, struct seen *seen, struct json_fault *fault)
{
	static const unsigned char empty[1];
	const unsigned char *p = text.n ? lex_begin(text) : empty;

	return (struct scan){
		.begin = p,
		.end = p + text.n,
		.fault = fault,
		.seen = seen,
#ifdef JSON_AVX2
		.has_blocks = block_supported(),
#endif
	};
}

/* Every step below takes the place where it begins and returns the place after it, or NULL after
   fail(). */
static __attribute__((noinline, cold)) const unsigned char *
fail(const struct scan *s, const unsigned char *at, const char *why)
{
	s->fault->at = (size_t)(at - s->begin);
	s->fault->why = at == s->end ? "unexpected end of input" : why;
	return NULL;
}

/* The byte at p, or NUL at the end of the text, which nothing outside a string accepts. */
ALWAYS_INLINE unsigned char peek(const struct scan *s, const unsigned char *p)
{
	return LIKELY(p < s->end) ? *p : 0;
}

/* ---- strings ---- */

static const unsigned char *utf8(const struct scan *s, const unsigned char *p)
{
	while (p < s->end && *p >= 0x80) {
		size_t n = utf8_length(p, s->end);

		if (UNLIKELY(n == 0)) {
			return fail(s, p, "invalid UTF-8");
		}
		p += n;
	}
	return p;
}

static bool is_hex(unsigned char c)
{
	return is_digit(c) || (unsigned char)((c | 0x20) - 'a') < 6;
}

/* p is at a backslash. */
static const unsigned char *escape(const struct scan *s, const unsigned char *p)
{
	static const bool simple[256] = {
		['"'] = true, ['\\'] = true, ['/'] = true, ['b'] = true,
		['f'] = true, ['n'] = true,  ['r'] = true, ['t'] = true,
	};
	unsigned char c = peek(s, p + 1);

	if (LIKELY(simple[c])) {
		return p + 2;
	}
	if (c != 'u') {
		return fail(s, p + 1, "unknown escape in a string");
	}
	for (size_t i = 2; i < 6; i++) {
		if (!is_hex(peek(s, p + i))) {
			return fail(s, p + i, "expected 4 hex digits after \\u");
		}
	}
	return p + 6;
}

static __attribute__((noinline)) const unsigned char *string_rest(const struct scan *s,
                                                                  const unsigned char *p)
{
	while (p) {
		p = run_plain(p, s->end);
		if (p == s->end) {
			return fail(s, p, "");
		}
		if (*p == '"') {
			return p + 1;
		}
		if (*p == '\\') {
			p = escape(s, p);
		} else if (*p >= 0x80) {
			p = utf8(s, p);
		} else {
			return fail(s, p, "control character in a string");
		}
	}
	return NULL;
}

#ifdef JSON_AVX2
static AVX2 __attribute__((noinline)) const unsigned char *string_blocks(const struct scan *s,
                                                                         const unsigned char *p)
{
	p = block_string(p, s->end);
	return LIKELY(p < s->end && *p == '"') ? p + 1 : string_rest(s, p);
}
#endif

#define LONG_STRING 64

/* Does the last long string follow here once more? An observation repeats the content of a
   message, and comparing is cheaper than checking. */
ALWAYS_INLINE bool is_repeated(const struct scan *s, const unsigned char *begin)
{
	const struct seen *seen = s->seen;
	size_t n = seen->string_n;

	return n && n <= (size_t)(s->end - begin) && word_load(begin) == word_load(seen->string) &&
	       memcmp(begin, seen->string, n) == 0;
}

/* Ids, hashes and dates are plain and shorter than a block, whose checks cost more. */
ALWAYS_INLINE const unsigned char *short_plain(const struct scan *s, const unsigned char *p)
{
#ifdef JSON_SSE2
	for (int i = 0; i < 3 && s->end - p >= 16; i++, p += 16) {
		unsigned mask = sse2_not_plain(sse2_load(p));

		if (mask) {
			return p + __builtin_ctz(mask);
		}
	}
	if (s->end - p < 16 && s->end - s->begin >= 16) { /* the last bytes of the text */
		unsigned mask = sse2_not_plain(sse2_load(s->end - 16)) >> (16 - (s->end - p));

		return mask ? p + __builtin_ctz(mask) : s->end;
	}
#else
	(void)s;
#endif
	return p;
}

static __attribute__((noinline)) const unsigned char *
long_string(const struct scan *s, const unsigned char *begin, const unsigned char *p)
{
	if (is_repeated(s, begin)) {
		return begin + s->seen->string_n;
	}
#ifdef JSON_AVX2
	p = LIKELY(s->has_blocks) ? string_blocks(s, p) : string_rest(s, p);
#else
	p = string_rest(s, p);
#endif
	if (p && p - begin >= LONG_STRING) {
		s->seen->string = begin;
		s->seen->string_n = (size_t)(p - begin);
	}
	return p;
}

/* begin is after the opening quote; everything before p is plain. */
static __attribute__((noinline)) const unsigned char *
string_from(const struct scan *s, const unsigned char *begin, const unsigned char *p)
{
	p = short_plain(s, p);
	return LIKELY(p < s->end && *p == '"') ? p + 1 : long_string(s, begin, p);
}

/* p is after the opening quote. Most strings are shorter than one SSE2 register; keys repeat
   from object to object, so their lengths are predictable. */
ALWAYS_INLINE const unsigned char *string(const struct scan *s, const unsigned char *p, bool is_key)
{
	const unsigned char *begin = p;

#ifdef JSON_SSE2
	if (LIKELY(s->end - p >= 16)) {
		unsigned mask = sse2_not_plain(sse2_load(p));

		if (LIKELY(mask)) {
			p = is_key ? sse2_step(p, mask) : p + __builtin_ctz(mask);
			if (LIKELY(*p == '"')) {
				return p + 1;
			}
		} else {
			p += 16;
		}
	}
#else
	(void)is_key;
#endif
	return string_from(s, begin, p);
}

/* ---- numbers, literals ---- */

static __attribute__((noinline)) const unsigned char *exponent(const struct scan *s,
                                                               const unsigned char *p)
{
	const unsigned char *digits = p + 1;

	if (peek(s, digits) == '+' || peek(s, digits) == '-') {
		digits++;
	}
	p = run_digits(digits, s->end);
	return p == digits ? fail(s, p, "expected a digit") : p;
}

/* p is at '-' or at a digit. */
ALWAYS_INLINE const unsigned char *number(const struct scan *s, const unsigned char *p)
{
	const unsigned char *first = p + (*p == '-');

	p = run_digits(first, s->end);
	if (UNLIKELY(p == first)) {
		return fail(s, p, "expected a digit");
	}
	if (UNLIKELY(*first == '0' && p - first > 1)) {
		return fail(s, first + 1, "a number must not start with 0");
	}
	if (peek(s, p) == '.') {
		first = p + 1;
		p = run_digits(first, s->end);
		if (UNLIKELY(p == first)) {
			return fail(s, p, "expected a digit");
		}
	}
	return UNLIKELY((peek(s, p) | 0x20) == 'e') ? exponent(s, p) : p;
}

ALWAYS_INLINE const unsigned char *literal(const struct scan *s, const unsigned char *p,
                                           const char *word, size_t n)
{
	if (LIKELY((size_t)(s->end - p) >= n && memcmp(p, word, n) == 0)) {
		return p + n;
	}
	for (size_t i = 1; i < n; i++) {
		if (peek(s, p + i) != (unsigned char)word[i]) {
			return fail(s, p + i, "expected null, true or false");
		}
	}
	return NULL;
}

static __attribute__((noinline, cold)) const unsigned char *no_value(const struct scan *s,
                                                                     const unsigned char *p)
{
	switch (peek(s, p)) {
	case 'N':
	case 'I':
		return fail(s, p, "NaN and Infinity are not JSON");
	case 0xef:
		return fail(s, p, "expected a value, found a byte order mark");
	case '\'':
		return fail(s, p, "expected a value; strings need double quotes");
	default:
		return fail(s, p, "expected a value");
	}
}

/* Any value except an array or object. */
ALWAYS_INLINE const unsigned char *scalar(const struct scan *s, const unsigned char *p)
{
	switch (peek(s, p)) {
	case '"':
		return string(s, p + 1, false);
	case '-':
	case '0':
	case '1':
	case '2':
	case '3':
	case '4':
	case '5':
	case '6':
	case '7':
	case '8':
	case '9':
		return number(s, p);
	case 'n':
		return literal(s, p, "null", 4);
	case 't':
		return literal(s, p, "true", 4);
	case 'f':
		return literal(s, p, "false", 5);
	default:
		return no_value(s, p);
	}
}

#endif
