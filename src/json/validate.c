/* The strict half of the scanner: validates bytes from peers, or reports a place and a reason.
   One pass, no recursion; never reads past the end. */
#include "json/scan.h"

#include "json/lex.h"

/* What was seen in this text so far. */
struct seen {
	/* the last long string, valid, with its closing quote but without the opening one */
	const unsigned char *string;
	size_t string_n;
};

struct scan {
	const unsigned char *begin, *end;
	struct json_fault *fault;
	struct seen *seen;
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

/* begin is after the opening quote; everything before p is plain. */
static __attribute__((noinline)) const unsigned char *
long_string(const struct scan *s, const unsigned char *begin, const unsigned char *p)
{
	if (is_repeated(s, begin)) {
		return begin + s->seen->string_n;
	}
	p = string_rest(s, p);
	if (p && p - begin >= LONG_STRING) {
		s->seen->string = begin;
		s->seen->string_n = (size_t)(p - begin);
	}
	return p;
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
	return long_string(s, begin, p);
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

/* ---- arrays and objects ---- */

static __attribute__((noinline)) const unsigned char *more_blanks(const struct scan *s,
                                                                  const unsigned char *p)
{
	for (; p < s->end && (*p == ' ' || *p == '\n' || *p == '\r' || *p == '\t'); p++) {
	}
	return p;
}

ALWAYS_INLINE const unsigned char *blanks(const struct scan *s, const unsigned char *p)
{
	if (LIKELY(peek(s, p) > ' ')) {
		return p;
	}
	/* many writers put one space after ',' and ':' */
	if (peek(s, p) == ' ' && peek(s, p + 1) > ' ') {
		return p + 1;
	}
	return more_blanks(s, p);
}

/* From after the key's closing quote to the value. */
ALWAYS_INLINE const unsigned char *colon(const struct scan *s, const unsigned char *p)
{
	p = blanks(s, p);
	if (UNLIKELY(peek(s, p) != ':')) {
		return fail(s, p, "expected ':'");
	}
	return blanks(s, p + 1);
}

ALWAYS_INLINE const unsigned char *key(const struct scan *s, const unsigned char *p)
{
	if (UNLIKELY(peek(s, p) != '"')) {
		return fail(s, p, "expected a key in double quotes");
	}
	return string(s, p + 1, true);
}

static __attribute__((noinline)) const unsigned char *any_name(const struct scan *s,
                                                               const unsigned char *p)
{
	p = key(s, p);
	return LIKELY(p != NULL) ? colon(s, p) : NULL;
}

/* From the opening quote of a key to the value. Keys without whitespace after them and shorter than one
   register need fewer tests than in any_name(). */
ALWAYS_INLINE const unsigned char *name(const struct scan *s, const unsigned char *p)
{
#ifdef JSON_SSE2
	if (LIKELY(s->end - p >= 20 && *p == '"')) { /* two quotes, 15 bytes, ':', a value */
		unsigned mask = sse2_not_plain(sse2_load(p + 1));

		if (LIKELY(mask)) {
			const unsigned char *quote = sse2_step(p + 1, mask);

			if (LIKELY(quote[0] == '"' && quote[1] == ':' && quote[2] > ' ')) {
				return quote + 2;
			}
		}
	}
#endif
	return any_name(s, p);
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
	if (UNLIKELY(n->depth == limit)) {
		return fail(s, p, "nested too deeply");
	}
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
		if (n->depth == 0) {
			return p;
		}
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
		if (UNLIKELY(!p)) {
			return NULL;
		}
		if (LIKELY(s->end - p >= 2 && p[0] == ',' && p[1] > ' ' && !entered)) {
			p++;
		} else if (!entered || peek(s, p) == n.closer) {
			p = leave(s, blanks(s, p), &n);
			if (n.depth == 0) {
				return p;
			}
			if (UNLIKELY(peek(s, p) != ',')) {
				return no_comma(s, p, n.closer);
			}
			p = blanks(s, p + 1);
		}
		if (n.closer == '}' && UNLIKELY(!(p = name(s, p)))) {
			return NULL;
		}
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
	struct seen seen = {0};
	struct scan s = scan_of(text, &seen, fault);
	const unsigned char *p = value(&s, blanks(&s, s.begin), JSON_DEPTH_MAX);

	if (!p) {
		return -1;
	}
	*used = (size_t)(p - s.begin);
	return 0;
}

int lex_validate(struct str text, struct str *found, struct json_fault *fault)
{
	struct seen seen = {0};
	struct scan s = scan_of(text, &seen, fault);
	const unsigned char *begin = blanks(&s, s.begin), *end = value(&s, begin, JSON_DEPTH_MAX);

	if (!end) {
		return -1;
	}
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

#define LEADS_TRIED 5 /* more than the number of consecutive keys that a line may omit */

/* Does the text at p begin with the lead? 16 bytes or more follow p. */
ALWAYS_INLINE bool has_lead(const unsigned char *p, const struct json_lead *lead)
{
#ifdef JSON_SSE2
	unsigned same = sse2_mask(_mm_cmpeq_epi8(sse2_load(p), sse2_load(lead->text)));
	unsigned all = (1u << lead->n) - 1;

	return (same & all) == all;
#else
	return memcmp(p, lead->text, lead->n) == 0;
#endif
}

/* Which of the next leads is at p? Returns its index plus 1, or 0. */
ALWAYS_INLINE unsigned lead_at(const unsigned char *p, const unsigned char *end,
                               const struct json_leads *leads, unsigned next)
{
	if (UNLIKELY((size_t)(end - p) < sizeof(leads->list->text))) {
		return 0;
	}
	for (unsigned i = next; i < leads->count && i < next + LEADS_TRIED; i++) {
		if (has_lead(p, &leads->list[i])) {
			return i + 1;
		}
	}
	return 0;
}

/* From the first byte of a member to its value; sets key and lead. */
ALWAYS_INLINE const unsigned char *member_name(const struct scan *s, const unsigned char *p,
                                               const struct json_leads *leads, unsigned next,
                                               struct json_member *m)
{
	const unsigned char *end;

	m->lead = leads ? lead_at(p, s->end, leads, next) : 0;
	if (LIKELY(m->lead)) {
		size_t n = leads->list[m->lead - 1].n;

		m->key = (struct str){(const char *)p + 1, n - 3};
		return blanks(s, p + n);
	}
	end = key(s, p);
	if (UNLIKELY(!end)) {
		return NULL;
	}
	m->key = (struct str){(const char *)p + 1, (size_t)(end - p - 2)};
	return colon(s, end);
}

/* Reads the members up to the closing brace; p is at the first key. */
ALWAYS_INLINE const unsigned char *members(const struct scan *s, const unsigned char *p,
                                           const struct json_leads *leads, struct json_member *out,
                                           size_t max, size_t *count)
{
	struct json_member beyond = {.lead = 0};
	unsigned next = 0;
	size_t n = 0;

	for (;;) {
		struct json_member *m = LIKELY(n < max) ? &out[n++] : &beyond;
		const unsigned char *begin = member_name(s, p, leads, next, m), *end;

		end = begin ? value(s, begin, JSON_DEPTH_MAX + JSON_DEPTH_AROUND - 1) : NULL;
		if (UNLIKELY(!end)) {
			return NULL;
		}
		next = m->lead ? m->lead : next;
		m->value = (struct str){(const char *)begin, (size_t)(end - begin)};
		m->type = json_types[*begin];
		if (LIKELY(s->end - end >= 2 && end[0] == ',' && end[1] > ' ')) {
			p = end + 1;
			continue;
		}
		p = blanks(s, end);
		if (peek(s, p) == '}') {
			*count = n;
			return p + 1;
		}
		if (UNLIKELY(peek(s, p) != ',')) {
			return no_comma(s, p, '}');
		}
		p = blanks(s, p + 1);
	}
}

ALWAYS_INLINE int object(struct str text, const struct json_leads *leads, struct json_known *k,
                         struct json_fault *fault)
{
	struct seen seen = {0};
	struct scan s = scan_of(text, &seen, fault);
	const unsigned char *p = blanks(&s, s.begin);

	k->count = 0;
	if (peek(&s, p) != '{') {
		fail(&s, p, "expected '{'");
		return -1;
	}
	p = blanks(&s, p + 1);
	p = peek(&s, p) == '}' ? p + 1 : members(&s, p, leads, k->members, k->max, &k->count);
	if (!p) {
		return -1;
	}
	k->used = (size_t)(p - s.begin);
	return 0;
}

int json_validate_object(struct str text, struct json_member *out, size_t max, size_t *count,
                         size_t *used, struct json_fault *fault)
{
	struct json_known k = {.members = out, .max = max};
	int failed = object(text, NULL, &k, fault);

	*count = k.count;
	*used = failed ? *used : k.used;
	return failed;
}

int json_validate_known(struct str text, struct json_known *k, struct json_fault *fault)
{
	const struct json_leads leads = k->leads;

	return object(text, &leads, k, fault);
}
