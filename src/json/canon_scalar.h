/* Checks strings, numbers and words, and copies them in canonical form. Private to src/json/: shared
   by canon_plain.c, which reads any value, and canon_shape.c, which knows what comes between the
   scalars. */
#ifndef ROLLDBG_JSON_CANON_SCALAR_H
#define ROLLDBG_JSON_CANON_SCALAR_H

#include "json/block.h"
#include "json/lex.h"
#include "json/sort.h"

#define DEPTH_MAX   32
#define MEMBERS_MAX 128

struct plain_frame {
	size_t members; /* index of its first member */
	bool sorted;    /* the keys so far are sorted */
	unsigned char closer;
};

struct copying {
	const unsigned char *source, *end;
	const unsigned char *from; /* the first byte not copied yet */
	size_t dropped;            /* bytes before `from` that the copy lacks */
	char *copy;
	bool has_blocks; /* the processor supports AVX2 blocks */
	bool one_line;   /* the text ends at a line feed between tokens */
	const unsigned char
		*seen; /* the last long string that was canonical, after its opening quote */
	size_t seen_n; /* its length with the closing one; 0: none yet */
	size_t members_n;
	size_t kept;               /* number of members of the last outermost container */
	struct plain_frame *frame; /* the innermost; frames[0] is a sentinel */
	struct plain_frame frames[DEPTH_MAX + 1];
	struct written_member members[MEMBERS_MAX];
};

/* False if the copy might not fit. */
ALWAYS_INLINE bool copy_begin(struct copying *c, struct str text, struct buf *out)
{
	c->source = c->from = lex_begin(text);
	c->end = lex_end(text);
	c->dropped = 0;
	c->one_line = false;
	c->has_blocks = false;
#ifdef JSON_AVX2
	c->has_blocks = __builtin_cpu_supports("avx2") != 0;
#endif
	c->seen_n = 0;
	c->members_n = 0;
	c->frame = c->frames;
	c->frames[0] = (struct plain_frame){.sorted = true};
	c->copy = text.n <= out->max && out->n <= out->max - text.n ? buf_room(out, text.n) : NULL;
	return c->copy != NULL;
}

/* The functions below take the place where they begin and return the place after it, or NULL for
   what is not JSON or not supported. */

ALWAYS_INLINE unsigned char peek(const struct copying *c, const unsigned char *p)
{
	return LIKELY(p < c->end) ? *p : 0;
}

/* The offset in the copy of the byte at p, which is not before c->from. */
ALWAYS_INLINE size_t place(const struct copying *c, const unsigned char *p)
{
	return (size_t)(p - c->source) - c->dropped;
}

ALWAYS_INLINE void copy_to(struct copying *c, const unsigned char *p)
{
	memcpy(c->copy + place(c, c->from), c->from, (size_t)(p - c->from));
	c->from = p;
}

/* Writes n bytes instead of those up to `after`, which are not fewer. */
static void put_instead(struct copying *c, const unsigned char *p, const unsigned char *after,
                        const char *bytes, size_t n)
{
	copy_to(c, p);
	memcpy(c->copy + place(c, p), bytes, n);
	c->dropped += (size_t)(after - p) - n;
	c->from = after;
}

static __attribute__((noinline)) const unsigned char *drop_blanks(struct copying *c,
                                                                  const unsigned char *p)
{
	const unsigned char *after = lex_blanks(p, c->end);
	const unsigned char *feed = c->one_line ? memchr(p, '\n', (size_t)(after - p)) : NULL;

	if (feed) {
		c->end = after = feed;
	}
	put_instead(c, p, after, "", 0);
	return after;
}

ALWAYS_INLINE const unsigned char *blanks(struct copying *c, const unsigned char *p)
{
	return LIKELY(peek(c, p) > ' ') ? p : drop_blanks(c, p);
}

/* ---- strings ---- */

/* The bytes after a backslash that form an escape in canonical form. */
static const bool canonical_escapes[256] = {
	['"'] = true, ['\\'] = true, ['b'] = true, ['f'] = true,
	['n'] = true, ['r'] = true,  ['t'] = true,
};

static bool is_unicode_escape(const struct copying *c, const unsigned char *p)
{
	if (c->end - p < 6 || p[0] != '\\' || p[1] != 'u') {
		return false;
	}
	for (size_t i = 2; i < 6; i++) {
		if (!is_digit(p[i]) && (unsigned char)((p[i] | 0x20) - 'a') > 5) {
			return false;
		}
	}
	return true;
}

/* An escape that may have another canonical form. */
static const unsigned char *other_escape(struct copying *c, const unsigned char *p)
{
	bool unicode = is_unicode_escape(c, p);
	const unsigned char *after = p;
	char text[6];

	if (!unicode && peek(c, p + 1) != '/') {
		return NULL;
	}
	/* half a surrogate pair, and something that is no escape: nothing more to decode */
	bool pair = unicode && is_unicode_escape(c, p + 6);
	size_t n = lex_canonical(lex_unescape(&after, unicode && !pair ? p + 6 : c->end), text);
	if ((size_t)(after - p) != n || memcmp(p, text, n) != 0) {
		put_instead(c, p, after, text, n);
	}
	return after;
}

static __attribute__((noinline)) const unsigned char *string_rest(struct copying *c,
                                                                  const unsigned char *p)
{
	while (p) {
		p = run_plain(p, c->end);
		if (p == c->end || *p == '"') {
			return p == c->end ? NULL : p + 1;
		}
		if (*p == '\\') {
			p = canonical_escapes[peek(c, p + 1)] ? p + 2 : other_escape(c, p);
		} else {
			size_t n = *p < ' ' ? 0 : utf8_length(p, c->end);

			p = n ? p + n : NULL;
		}
	}
	return NULL;
}

#ifdef JSON_AVX2
static AVX2 __attribute__((noinline)) const unsigned char *string_blocks(struct copying *c,
                                                                         const unsigned char *p)
{
	p = block_string(p, c->end, true);
	return LIKELY(p < c->end && *p == '"') ? p + 1 : string_rest(c, p);
}
#endif

#define LONG_STRING 64

/* The rest of a long string. An observation repeats the content of a message, and comparing is
   cheaper than checking. */
static __attribute__((noinline)) const unsigned char *
long_string(struct copying *c, const unsigned char *begin, const unsigned char *p)
{
	const size_t dropped = c->dropped, n = c->seen_n;

#ifdef JSON_SSE2
	for (int i = 0; i < 3 && c->end - p >= 16; i++, p += 16) {
		unsigned mask = sse2_not_plain(sse2_load(p));

		if (mask) {
			p += __builtin_ctz(mask);
			if (LIKELY(*p == '"')) {
				return p + 1;
			}
			break;
		}
	}
#endif
	if (n && n <= (size_t)(c->end - begin) && memcmp(begin, c->seen, n) == 0) {
		return begin + n;
	}
#ifdef JSON_AVX2
	p = LIKELY(c->has_blocks) ? string_blocks(c, p) : string_rest(c, p);
#else
	p = string_rest(c, p);
#endif
	if (p && p - begin > LONG_STRING && c->dropped == dropped && c->from <= begin) {
		c->seen = begin;
		c->seen_n = (size_t)(p - begin);
	}
	return p;
}

/* p is after the opening quote. Most strings end within one SSE2 register. */
ALWAYS_INLINE const unsigned char *string(struct copying *c, const unsigned char *p)
{
	const unsigned char *begin = p;

#ifdef JSON_SSE2
	if (LIKELY(c->end - p >= 16)) {
		unsigned mask = sse2_not_plain(sse2_load(p));

		p += mask ? __builtin_ctz(mask) : 16;
		if (LIKELY(mask && *p == '"')) {
			return p + 1;
		}
	}
#endif
	return long_string(c, begin, p);
}

static __attribute__((noinline)) const unsigned char *long_key(struct copying *c,
                                                               const unsigned char *p)
{
	const unsigned char *after = string_rest(c, p);

	return after && !memchr(p, '\\', (size_t)(after - p)) ? after : NULL;
}

/* Keys repeat from object to object, so their lengths are predictable. */
ALWAYS_INLINE const unsigned char *key(struct copying *c, const unsigned char *p)
{
	if (UNLIKELY(peek(c, p) != '"')) {
		return NULL;
	}
	p++;
#ifdef JSON_SSE2
	if (LIKELY(c->end - p >= 16)) {
		unsigned mask = sse2_not_plain(sse2_load(p));

		if (LIKELY(mask)) {
			const unsigned char *after = sse2_step(p, mask);

			if (LIKELY(*after == '"')) {
				return after + 1;
			}
		}
	}
#endif
	return long_key(c, p);
}

/* ---- numbers, literals ---- */

ALWAYS_INLINE const unsigned char *digits(const struct copying *c, const unsigned char *p)
{
	const unsigned char *after = run_digits(p, c->end);

	return LIKELY(after > p) ? after : NULL;
}

static __attribute__((noinline)) const unsigned char *exponent(const struct copying *c,
                                                               const unsigned char *p)
{
	p++;
	return digits(c, p + (peek(c, p) == '+' || peek(c, p) == '-'));
}

ALWAYS_INLINE const unsigned char *number(const struct copying *c, const unsigned char *p)
{
	const unsigned char *first = p + (*p == '-');

	p = digits(c, first);
	if (UNLIKELY(!p || (*first == '0' && p - first > 1))) {
		return NULL;
	}
	if (peek(c, p) == '.') {
		p = digits(c, p + 1);
	}
	return p && UNLIKELY((peek(c, p) | 0x20) == 'e') ? exponent(c, p) : p;
}

ALWAYS_INLINE const unsigned char *literal(const struct copying *c, const unsigned char *p,
                                           const char *word, size_t n)
{
	return LIKELY((size_t)(c->end - p) >= n && memcmp(p, word, n) == 0) ? p + n : NULL;
}

/* Any value except an array or object. */
ALWAYS_INLINE const unsigned char *scalar(struct copying *c, const unsigned char *p)
{
	switch (peek(c, p)) {
	case '"':
		return string(c, p + 1);
	case 'n':
		return literal(c, p, "null", 4);
	case 't':
		return literal(c, p, "true", 4);
	case 'f':
		return literal(c, p, "false", 5);
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
		return number(c, p);
	default:
		return NULL;
	}
}

#endif
