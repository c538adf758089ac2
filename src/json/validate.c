/* The strict half of the scanner: validates bytes from peers, or reports a place and a reason.
   One pass, no recursion; never reads past the end. */
#include "json/scan.h"

#include "base/text.h"
#include "json/lex.h"

struct scan {
	const unsigned char *begin, *end;
	struct json_fault *fault;
};

ALWAYS_INLINE struct scan scan_of(struct str text, struct json_fault *fault)
{
	static const unsigned char empty[1];
	const unsigned char *p = text.n ? lex_begin(text) : empty;

	return (struct scan){
		.begin = p,
		.end = p + text.n,
		.fault = fault,
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
	uint32_t code;

	while (p < s->end && *p >= 0x80) {
		size_t n = utf8_decode(lex_slice(p, s->end), &code);

		if (UNLIKELY(n == 0))
			return fail(s, p, "invalid UTF-8");
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

	if (LIKELY(simple[c]))
		return p + 2;
	if (c != 'u')
		return fail(s, p + 1, "unknown escape in a string");
	for (size_t i = 2; i < 6; i++)
		if (!is_hex(peek(s, p + i)))
			return fail(s, p + i, "expected 4 hex digits after \\u");
	return p + 6;
}

static __attribute__((noinline)) const unsigned char *string_rest(const struct scan *s,
                                                                  const unsigned char *p)
{
	while (p) {
		p = run_plain(p, s->end);
		if (p == s->end)
			return fail(s, p, "");
		if (*p == '"')
			return p + 1;
		if (*p == '\\')
			p = escape(s, p);
		else if (*p >= 0x80)
			p = utf8(s, p);
		else
			return fail(s, p, "control character in a string");
	}
	return NULL;
}

/* p is after the opening quote. */
ALWAYS_INLINE const unsigned char *string(const struct scan *s, const unsigned char *p)
{
	p = run_plain(p, s->end);
	return LIKELY(p < s->end && *p == '"') ? p + 1 : string_rest(s, p);
}

/* ---- numbers, literals ---- */

static __attribute__((noinline)) const unsigned char *exponent(const struct scan *s,
                                                               const unsigned char *p)
{
	const unsigned char *digits = p + 1;

	if (peek(s, digits) == '+' || peek(s, digits) == '-')
		digits++;
	p = run_digits(digits, s->end);
	return p == digits ? fail(s, p, "expected a digit") : p;
}

/* p is at '-' or at a digit. */
ALWAYS_INLINE const unsigned char *number(const struct scan *s, const unsigned char *p)
{
	const unsigned char *first = p + (*p == '-');

	p = run_digits(first, s->end);
	if (UNLIKELY(p == first))
		return fail(s, p, "expected a digit");
	if (UNLIKELY(*first == '0' && p - first > 1))
		return fail(s, first + 1, "a number must not start with 0");
	if (peek(s, p) == '.') {
		first = p + 1;
		p = run_digits(first, s->end);
		if (UNLIKELY(p == first))
			return fail(s, p, "expected a digit");
	}
	return UNLIKELY((peek(s, p) | 0x20) == 'e') ? exponent(s, p) : p;
}

ALWAYS_INLINE const unsigned char *literal(const struct scan *s, const unsigned char *p,
                                           const char *word, size_t n)
{
	if (LIKELY((size_t)(s->end - p) >= n && memcmp(p, word, n) == 0))
		return p + n;
	for (size_t i = 1; i < n; i++)
		if (peek(s, p + i) != (unsigned char)word[i])
			return fail(s, p + i, "expected null, true or false");
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
		return string(s, p + 1);
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

/* ---- arrays and objects ---- */

ALWAYS_INLINE const unsigned char *blanks(const struct scan *s, const unsigned char *p)
{
	return lex_blanks(p, s->end);
}

/* From after the key's closing quote to the value. */
ALWAYS_INLINE const unsigned char *colon(const struct scan *s, const unsigned char *p)
{
	p = blanks(s, p);
	if (UNLIKELY(peek(s, p) != ':'))
		return fail(s, p, "expected ':'");
	return blanks(s, p + 1);
}

ALWAYS_INLINE const unsigned char *key(const struct scan *s, const unsigned char *p)
{
	if (UNLIKELY(peek(s, p) != '"'))
		return fail(s, p, "expected a key in double quotes");
	return string(s, p + 1);
}

/* From the opening quote of a key to the value. */
ALWAYS_INLINE const unsigned char *name(const struct scan *s, const unsigned char *p)
{
	p = key(s, p);
	return LIKELY(p != NULL) ? colon(s, p) : NULL;
}

static const unsigned char *no_comma(const struct scan *s, const unsigned char *p,
                                     unsigned char closer)
{
	return fail(s, p, closer == '}' ? "expected ',' or '}'" : "expected ',' or ']'");
}

/* The open brackets and braces. */
struct nest {
	size_t depth;
	unsigned char closer; /* closer of the innermost */
	unsigned char outer[JSON_DEPTH_MAX + JSON_DEPTH_AROUND];
};

/* p is at a bracket or brace; at most `limit` of them may be open. */
ALWAYS_INLINE const unsigned char *enter(const struct scan *s, const unsigned char *p,
                                         struct nest *n, size_t limit)
{
	if (UNLIKELY(n->depth == limit))
		return fail(s, p, "nested too deeply");
	n->outer[n->depth++] = n->closer;
	n->closer = (unsigned char)(*p + 2);
	return blanks(s, p + 1);
}

/* From after a child to after everything that closes with it. */
ALWAYS_INLINE const unsigned char *leave(const struct scan *s, const unsigned char *p,
                                         struct nest *n)
{
	while (peek(s, p) == n->closer) {
		n->closer = n->outer[--n->depth];
		p++;
		if (n->depth == 0)
			return p;
		p = blanks(s, p);
	}
	return p;
}

ALWAYS_INLINE bool opens(unsigned char c)
{
	return c == '{' || c == '[';
}

static const unsigned char *container(const struct scan *s, const unsigned char *p, size_t limit)
{
	struct nest n;

	n.depth = n.closer = 0;
	p = enter(s, p, &n, limit);
	for (bool entered = true;;) {
		if (UNLIKELY(!p))
			return NULL;
		if (LIKELY(s->end - p >= 2 && p[0] == ',' && p[1] > ' ' && !entered)) {
			p++;
		} else if (!entered || peek(s, p) == n.closer) {
			p = leave(s, blanks(s, p), &n);
			if (n.depth == 0)
				return p;
			if (UNLIKELY(peek(s, p) != ','))
				return no_comma(s, p, n.closer);
			p = blanks(s, p + 1);
		}
		if (n.closer == '}' && UNLIKELY(!(p = name(s, p))))
			return NULL;
		entered = opens(peek(s, p));
		p = entered ? enter(s, p, &n, limit) : scalar(s, p);
	}
}

ALWAYS_INLINE const unsigned char *value(const struct scan *s, const unsigned char *p, size_t limit)
{
	return opens(peek(s, p)) ? container(s, p, limit) : scalar(s, p);
}

int json_validate_first(struct str text, size_t *used, struct json_fault *fault)
{
	struct scan s = scan_of(text, fault);
	const unsigned char *p = value(&s, blanks(&s, s.begin), JSON_DEPTH_MAX);

	if (!p)
		return -1;
	*used = (size_t)(p - s.begin);
	return 0;
}

int lex_validate(struct str text, struct str *found, struct json_fault *fault)
{
	struct scan s = scan_of(text, fault);
	const unsigned char *begin = blanks(&s, s.begin), *end = value(&s, begin, JSON_DEPTH_MAX);

	if (!end)
		return -1;
	const unsigned char *p = blanks(&s, end);
	if (p != s.end) {
		fail(&s, p, "unexpected text after the value");
		return -1;
	}
	*found = lex_slice(begin, end);
	return 0;
}

int json_validate(struct str text, struct json_fault *fault)
{
	struct str found;

	return lex_validate(text, &found, fault);
}

/* ---- members ---- */

/* Reads the members up to the closing brace; p is at the first key. */
static const unsigned char *members(const struct scan *s, const unsigned char *p,
                                    struct json_member *out, size_t max, size_t *count)
{
	struct json_member beyond = {.key = STR_NONE};

	for (;;) {
		struct json_member *m = LIKELY(*count < max) ? &out[(*count)++] : &beyond;
		const unsigned char *key_end = key(s, p),
				    *begin = key_end ? colon(s, key_end) : NULL;
		const unsigned char *end =
			begin ? value(s, begin, JSON_DEPTH_MAX + JSON_DEPTH_AROUND - 1) : NULL;

		if (UNLIKELY(!end))
			return NULL;
		m->key = lex_slice(p + 1, key_end - 1);
		m->value = lex_slice(begin, end);
		m->type = (enum json_type)json_types[*begin];
		p = blanks(s, end);
		if (peek(s, p) == '}')
			return p + 1;
		if (UNLIKELY(peek(s, p) != ','))
			return no_comma(s, p, '}');
		p = blanks(s, p + 1);
	}
}

int json_validate_object(struct str text, struct json_member *out, size_t max, size_t *count,
                         size_t *used, struct json_fault *fault)
{
	struct scan s = scan_of(text, fault);
	const unsigned char *p = blanks(&s, s.begin);

	*count = 0;
	if (peek(&s, p) != '{') {
		fail(&s, p, "expected '{'");
		return -1;
	}
	p = blanks(&s, p + 1);
	p = peek(&s, p) == '}' ? p + 1 : members(&s, p, out, max, count);
	if (!p)
		return -1;
	*used = (size_t)(p - s.begin);
	return 0;
}
