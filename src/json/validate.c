/* The strict half of the scanner: validates bytes from peers, or reports a place and a reason.
   One pass, no recursion; never reads past the end. */
#include "json/scalar.h"
#include "json/scan_internal.h"

static __attribute__((noinline)) const unsigned char *more_blanks(const struct scan *s,
                                                                  const unsigned char *p)
{
	for (; p < s->end && (*p == ' ' || *p == '\n' || *p == '\r' || *p == '\t'); p++) {
		s->seen->line_feed |= *p == '\n';
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

/* ---- arrays and objects ---- */

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
	k->line_feed = seen.line_feed;
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
