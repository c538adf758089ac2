/* The canonical form without masking: one loop that copies token by token into space reserved at
   the start, because no token gets longer. An object with unsorted keys is sorted when it
   closes. */
#include "json/canon_plain.h"

#include "json/lex.h"
#include "json/sort.h"

#define DEPTH_MAX   32
#define MEMBERS_MAX 128
#define SLACK       16 /* bytes after the copy that may be overwritten */

struct plain_frame {
	char *begin;    /* after the opening bracket */
	size_t members; /* index of its first member */
	bool sorted;    /* the keys so far are sorted */
	unsigned char closer;
};

/* The state of the copying. */
struct copying {
	const unsigned char *p, *end;
	char *to;
	struct plain_frame *frame; /* the innermost; frames[0] is a sentinel */
	size_t members_n;
};

/* State of the open objects and arrays. */
struct copied {
	char *begin; /* start of the copy */
	struct plain_frame frames[DEPTH_MAX + 1];
	struct written_member members[MEMBERS_MAX];
};

/* ---- tokens ---- */

/* The bytes after a backslash that form an escape in canonical form. */
static const bool canonical_escapes[256] = {
	['"'] = true, ['\\'] = true, ['b'] = true, ['f'] = true,
	['n'] = true, ['r'] = true,  ['t'] = true,
};

static void copy_escape(struct copying *c)
{
	const unsigned char *p = c->p;
	char text[6];
	size_t n = lex_canonical(lex_unescape(&p, c->end), text);

	memcpy(c->to, text, n);
	c->to += n;
	c->p = p;
}

#ifdef JSON_SSE2
/* Copies a whole block before its length is known; the excess bytes are overwritten later. */
ALWAYS_INLINE __m128i copy_block(struct copying *c)
{
	__m128i block = sse2_load(c->p);

	_mm_storeu_si128((__m128i *)(void *)c->to, block);
	return block;
}

ALWAYS_INLINE void advance(struct copying *c, size_t n)
{
	c->p += n;
	c->to += n;
}

/* The number of bytes of a block up to a closing quote, or up to an escape that is not in
   canonical form or continues in the next block; `mask` marks the quotes and backslashes of the
   block. */
ALWAYS_INLINE size_t text_in_block(const unsigned char *p, unsigned mask)
{
	while (mask) {
		unsigned at = (unsigned)__builtin_ctz(mask);

		if (p[at] == '"' || at == 15 || !canonical_escapes[p[at + 1]]) {
			return at;
		}
		mask &= ~(3u << at);
	}
	return 16;
}

/* Copies up to the closing quote or almost to the end of the value. */
ALWAYS_INLINE void copy_text_blocks(struct copying *c)
{
	while (LIKELY(c->end - c->p > 16)) {
		size_t n = text_in_block(c->p, sse2_not_text(copy_block(c)));

		advance(c, n);
		if (n < 16 && (*c->p == '"' || !canonical_escapes[c->p[1]])) {
			return;
		}
	}
}

ALWAYS_INLINE bool copy_word_block(struct copying *c)
{
	if (UNLIKELY(c->end - c->p < 16)) {
		return false;
	}
	__m128i block = copy_block(c);
	__m128i ends = _mm_or_si128(sse2_is(block, ','),
	                            sse2_is(_mm_or_si128(block, _mm_set1_epi8(0x20)), '}'));
	unsigned mask = sse2_mask(_mm_or_si128(ends, _mm_cmplt_epi8(block, _mm_set1_epi8('!'))));
	if (UNLIKELY(!mask)) {
		return false;
	}
	advance(c, (size_t)__builtin_ctz(mask));
	return true;
}
#else
ALWAYS_INLINE void copy_text_blocks(struct copying *c)
{
	(void)c;
}

ALWAYS_INLINE bool copy_word_block(struct copying *c)
{
	(void)c;
	return false;
}
#endif

/* Copies up to the next quote or backslash. */
ALWAYS_INLINE void copy_text(struct copying *c)
{
	const unsigned char *behind = words_text(c->p, c->end);
	size_t n = (size_t)(behind - c->p);

	memcpy(c->to, c->p, n);
	c->to += n;
	c->p = behind;
}

/* Copies up to the closing quote, from anywhere in the string. Passed by value, which keeps the
   loop's copy in registers. */
static __attribute__((noinline)) struct copying copy_text_rest(struct copying c)
{
	for (;;) {
		copy_text(&c);
		if (*c.p == '"') {
			return c;
		}
		if (LIKELY(canonical_escapes[c.p[1]])) {
			*c.to++ = '\\';
			*c.to++ = (char)c.p[1];
			c.p += 2;
		} else {
			copy_escape(&c);
		}
		copy_text_blocks(&c);
	}
}

ALWAYS_INLINE void copy_string(struct copying *c)
{
	*c->to++ = '"';
	c->p++;
	copy_text_blocks(c);
	if (UNLIKELY(*c->p != '"')) {
		*c = copy_text_rest(*c);
	}
	*c->to++ = '"';
	c->p++;
}

/* Copies up to the closing quote, or to an escape. */
ALWAYS_INLINE void copy_key(struct copying *c)
{
	*c->to++ = '"';
	c->p++;
#ifdef JSON_SSE2
	if (LIKELY(c->end - c->p >= 16)) {
		unsigned mask = sse2_not_text(copy_block(c));

		advance(c, mask ? (size_t)__builtin_ctz(mask) : 16);
		if (LIKELY(mask)) {
			return;
		}
	}
#endif
	copy_text(c);
}

/* Copies a number or literal. */
ALWAYS_INLINE void copy_word(struct copying *c)
{
	if (LIKELY(copy_word_block(c))) {
		return;
	}
	do {
		*c->to++ = (char)*c->p++;
	} while (c->p < c->end && *c->p != ',' && *c->p != ']' && *c->p != '}' && *c->p > ' ');
}

ALWAYS_INLINE void skip_blanks(struct copying *c)
{
	if (UNLIKELY(*c->p <= ' ')) {
		c->p = lex_blanks(c->p, c->end);
	}
}

ALWAYS_INLINE void copy_scalar(struct copying *c)
{
	if (*c->p == '"') {
		copy_string(c);
	} else {
		copy_word(c);
	}
}

/* ---- objects and arrays ---- */

ALWAYS_INLINE bool enter(struct copying *c, struct copied *s)
{
	struct plain_frame *f = c->frame + 1;

	if (UNLIKELY(f == s->frames + ARRAY_LEN(s->frames))) {
		return false;
	}
	*c->to++ = (char)*c->p;
	*f = (struct plain_frame){c->to, c->members_n, true, (unsigned char)(*c->p + 2)};
	c->frame = f;
	c->p++;
	skip_blanks(c);
	return true;
}

/* Closes everything that ends here and leaves an unfinished container, or the sentinel, as the
   innermost frame. */
ALWAYS_INLINE void leave(struct copying *c, struct copied *s)
{
	while (*c->p == c->frame->closer) {
		const struct plain_frame *f = c->frame--;

		if (UNLIKELY(!f->sorted)) {
			s->members[c->members_n - 1].end = (size_t)(c->to - s->begin);
			sort_written(&s->members[f->members], c->members_n - f->members, s->begin);
		}
		c->members_n = f->members;
		*c->to++ = (char)*c->p++;
		if (c->frame == s->frames) {
			return;
		}
		skip_blanks(c);
	}
}

/* Copies the key and its colon. */
ALWAYS_INLINE bool begin_member(struct copying *c, struct copied *s)
{
	struct plain_frame *f = c->frame;
	struct written_member *m = &s->members[c->members_n];
	const unsigned char *name = c->p + 1;

	if (UNLIKELY(c->members_n == ARRAY_LEN(s->members))) {
		return false;
	}
	m->at = (size_t)(c->to - s->begin);
	copy_key(c);
	if (UNLIKELY(*c->p != '"')) {
		return false;
	}
	m->key = lex_slice(name, c->p);
	if (c->members_n++ > f->members) {
		m[-1].end = m->at - 1;
		f->sorted = f->sorted && key_order(m[-1].key, m->key) <= 0;
	}
	*c->to++ = '"';
	*c->to++ = ':';
	c->p++;
	skip_blanks(c);
	c->p++;
	skip_blanks(c);
	return true;
}

ALWAYS_INLINE bool opens(unsigned char c)
{
	return c == '{' || c == '[';
}

/* Copies an object or array; c->p is at its opening bracket. */
ALWAYS_INLINE bool copy_container(struct copying *c, struct copied *s)
{
	if (!enter(c, s)) {
		return false;
	}
	for (bool entered = true;;) {
		if (!entered || *c->p == c->frame->closer) {
			leave(c, s);
			if (c->frame == s->frames) {
				return true;
			}
			*c->to++ = ',';
			c->p++;
			skip_blanks(c);
		}
		if (c->frame->closer == '}' && UNLIKELY(!begin_member(c, s))) {
			return false;
		}
		entered = opens(*c->p);
		if (entered) {
			if (UNLIKELY(!enter(c, s))) {
				return false;
			}
		} else {
			copy_scalar(c);
			skip_blanks(c);
		}
	}
}

bool canon_plain(struct str value, struct buf *out)
{
	struct copied s;
	size_t n = value.n + SLACK;
	char *room = n <= out->max && out->n <= out->max - n ? buf_room(out, n) : NULL;
	struct copying c = {lex_blanks(lex_begin(value), lex_end(value)), lex_end(value), room,
	                    s.frames, 0};

	if (!room) {
		return false;
	}
	s.begin = room;
	if (!opens(*c.p)) {
		copy_scalar(&c);
	} else if (!copy_container(&c, &s)) {
		return false;
	}
	out->n += (size_t)(c.to - room);
	buf_add(out, "", 0); /* adds the terminating NUL */
	return true;
}
