/* The canonical form without masking, checked and written in one pass. Most bytes of most values
   are canonical already: they are copied in long runs, each up to the next byte that is not (a
   blank, an escape with another form), or up to the end of an object with unsorted keys, which is
   sorted when it closes. No token gets longer, so the space is reserved at the start. */
#include "json/canon_plain.h"

#include "json/block.h"
#include "json/canon_object.h"
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
	size_t members_n;
	size_t kept;               /* number of members of the last outermost container */
	struct plain_frame *frame; /* the innermost; frames[0] is a sentinel */
	struct plain_frame frames[DEPTH_MAX + 1];
	struct written_member members[MEMBERS_MAX];
};

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

/* Writes n bytes instead of those up to `behind`, which are not fewer. */
static void put_instead(struct copying *c, const unsigned char *p, const unsigned char *behind,
                        const char *bytes, size_t n)
{
	copy_to(c, p);
	memcpy(c->copy + place(c, p), bytes, n);
	c->dropped += (size_t)(behind - p) - n;
	c->from = behind;
}

static __attribute__((noinline)) const unsigned char *drop_blanks(struct copying *c,
                                                                  const unsigned char *p)
{
	const unsigned char *behind = lex_blanks(p, c->end);

	put_instead(c, p, behind, "", 0);
	return behind;
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
	const unsigned char *behind = p;
	char text[6];

	if (!unicode && peek(c, p + 1) != '/') {
		return NULL;
	}
	/* half a surrogate pair, and something that is no escape: nothing more to decode */
	bool pair = unicode && is_unicode_escape(c, p + 6);
	size_t n = lex_canonical(lex_unescape(&behind, unicode && !pair ? p + 6 : c->end), text);
	if ((size_t)(behind - p) != n || memcmp(p, text, n) != 0) {
		put_instead(c, p, behind, text, n);
	}
	return behind;
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

/* p is after the opening quote. Most strings end within one SSE2 register. */
ALWAYS_INLINE const unsigned char *string(struct copying *c, const unsigned char *p)
{
#ifdef JSON_SSE2
	if (LIKELY(c->end - p >= 16)) {
		unsigned mask = sse2_not_plain(sse2_load(p));

		p += mask ? __builtin_ctz(mask) : 16;
		if (LIKELY(mask && *p == '"')) {
			return p + 1;
		}
	}
#endif
#ifdef JSON_AVX2
	if (LIKELY(c->has_blocks)) {
		return string_blocks(c, p);
	}
#endif
	return string_rest(c, p);
}

static __attribute__((noinline)) const unsigned char *long_key(struct copying *c,
                                                               const unsigned char *p)
{
	const unsigned char *behind = string_rest(c, p);

	return behind && !memchr(p, '\\', (size_t)(behind - p)) ? behind : NULL;
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
			const unsigned char *behind = sse2_step(p, mask);

			if (LIKELY(*behind == '"')) {
				return behind + 1;
			}
		}
	}
#endif
	return long_key(c, p);
}

/* ---- numbers, literals ---- */

ALWAYS_INLINE const unsigned char *digits(const struct copying *c, const unsigned char *p)
{
	const unsigned char *behind = run_digits(p, c->end);

	return LIKELY(behind > p) ? behind : NULL;
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
	default:
		return LIKELY(is_digit(peek(c, p)) || peek(c, p) == '-') ? number(c, p) : NULL;
	}
}

/* ---- objects and arrays ---- */

ALWAYS_INLINE bool opens(unsigned char c)
{
	return c == '{' || c == '[';
}

ALWAYS_INLINE const unsigned char *enter(struct copying *c, const unsigned char *p)
{
	struct plain_frame *f = c->frame + 1;

	if (UNLIKELY(f == c->frames + ARRAY_LEN(c->frames))) {
		return NULL;
	}
	*f = (struct plain_frame){c->members_n, true, (unsigned char)(*p + 2)};
	c->frame = f;
	return blanks(c, p + 1);
}

/* The members are copied and sorted, unless they are those of the outermost object, and its order
   is kept. */
static __attribute__((noinline)) void sort(struct copying *c, const unsigned char *p)
{
	size_t first = c->frame->members;

	copy_to(c, p);
	c->members[c->members_n - 1].end = place(c, p);
	sort_written(&c->members[first], c->members_n - first, c->copy);
}

/* Closes everything that ends here and leaves an unfinished container, or the sentinel, as the
   innermost frame. */
ALWAYS_INLINE const unsigned char *leave(struct copying *c, const unsigned char *p, bool sorted)
{
	while (peek(c, p) == c->frame->closer) {
		const struct plain_frame *f = c->frame;

		if (UNLIKELY(!f->sorted && (sorted || f > c->frames + 1))) {
			sort(c, p);
		}
		c->kept = c->members_n - f->members;
		c->members_n = f->members;
		c->frame--;
		p++;
		if (c->frame == c->frames) {
			return p;
		}
		p = blanks(c, p);
	}
	return p;
}

/* From a key to its value. */
ALWAYS_INLINE const unsigned char *member(struct copying *c, const unsigned char *p)
{
	struct plain_frame *f = c->frame;
	struct written_member *m = &c->members[c->members_n];
	const unsigned char *behind = key(c, p);

	if (UNLIKELY(!behind || c->members_n == ARRAY_LEN(c->members))) {
		return NULL;
	}
	*m = (struct written_member){.key = lex_slice(p + 1, behind - 1), .at = place(c, p)};
	if (c->members_n++ > f->members) {
		m[-1].end = m->at - 1;
		f->sorted = f->sorted && key_order(m[-1].key, m->key) <= 0;
	}
	p = blanks(c, behind);
	return LIKELY(peek(c, p) == ':') ? blanks(c, p + 1) : NULL;
}

/* Copies an object or array; p is at its opening bracket. */
static const unsigned char *container(struct copying *c, const unsigned char *p, bool sorted)
{
	p = enter(c, p);
	for (bool entered = true; LIKELY(p != NULL);) {
		if (!entered || peek(c, p) == c->frame->closer) {
			p = leave(c, p, sorted);
			if (c->frame == c->frames) {
				return p;
			}
			if (UNLIKELY(peek(c, p) != ',')) {
				return NULL;
			}
			p = blanks(c, p + 1);
		}
		if (c->frame->closer == '}' && UNLIKELY(!(p = member(c, p)))) {
			return NULL;
		}
		entered = opens(peek(c, p));
		p = entered ? enter(c, p) : scalar(c, p);
		p = LIKELY(p != NULL) && !entered ? blanks(c, p) : p;
	}
	return NULL;
}

ALWAYS_INLINE const unsigned char *value_at(struct copying *c, const unsigned char *p, bool sorted)
{
	return opens(peek(c, p)) ? container(c, p, sorted) : scalar(c, p);
}

/* False if the copy might not fit. */
static bool begin(struct copying *c, struct str text, struct buf *out)
{
	c->source = c->from = lex_begin(text);
	c->end = lex_end(text);
	c->dropped = 0;
	c->has_blocks = false;
#ifdef JSON_AVX2
	c->has_blocks = __builtin_cpu_supports("avx2") != 0;
#endif
	c->members_n = 0;
	c->frame = c->frames;
	c->frames[0] = (struct plain_frame){.sorted = true};
	c->copy = text.n <= out->max && out->n <= out->max - text.n ? buf_room(out, text.n) : NULL;
	return c->copy != NULL;
}

static void end(struct copying *c, struct buf *out)
{
	copy_to(c, c->end);
	out->n += place(c, c->end);
	buf_add(out, "", 0); /* adds the terminating NUL */
}

bool canon_plain(struct str value, struct buf *out)
{
	struct copying c;

	if (!begin(&c, value, out)) {
		return false;
	}
	const unsigned char *p = value_at(&c, blanks(&c, c.source), true);
	if (!p || blanks(&c, p) != c.end) {
		return false;
	}
	end(&c, out);
	return true;
}

/* ---- the members of an object, one by one ---- */

struct taking {
	struct json_canon_object *o;
	size_t parts;
};

static bool is_one_of(struct str key, const struct json_names *names)
{
	for (size_t i = 0; i < names->count; i++) {
		if (str_eq(key, names->names[i])) {
			return true;
		}
	}
	return false;
}

/* Takes the members of the object that ends at p; their bytes may not be copied yet. */
static bool take_parts(struct copying *c, const unsigned char *p, struct taking *t)
{
	const size_t n = c->kept;

	if (n > JSON_CANON_PARTS - t->parts) {
		return false;
	}
	t->o->inner[t->o->count] = (struct json_inner){t->parts, n};
	for (size_t i = 0; i < n; i++) {
		const struct written_member *w = &c->members[i];
		const size_t value = w->at + w->key.n + 3; /* quotes and colon */
		const size_t end = i + 1 < n ? w->end : place(c, p) - 1;

		t->o->parts[t->parts++] = (struct json_member){
			.key = w->key, .value = {c->copy + value, end - value}};
	}
	return true;
}

/* From a key to the comma or brace after its value. */
static const unsigned char *top_member(struct copying *c, const unsigned char *p,
                                       const struct json_names *ordered, struct taking *t)
{
	struct json_member *m = &t->o->members[t->o->count];
	const unsigned char *behind = key(c, p);

	if (UNLIKELY(!behind)) {
		return NULL;
	}
	m->key = lex_slice(p + 1, behind - 1);
	p = blanks(c, behind);
	if (UNLIKELY(peek(c, p) != ':')) {
		return NULL;
	}
	p = blanks(c, p + 1);
	m->type = (enum json_type)json_types[peek(c, p)];
	m->value.p = c->copy + place(c, p);
	bool keeps = m->type == JSON_OBJECT && is_one_of(m->key, ordered);
	p = value_at(c, p, !keeps);
	if (UNLIKELY(!p)) {
		return NULL;
	}
	m->value.n = (size_t)(c->copy + place(c, p) - m->value.p);
	t->o->inner[t->o->count] = (struct json_inner){0, 0};
	if (keeps && !take_parts(c, p, t)) {
		return NULL;
	}
	t->o->count++;
	return blanks(c, p);
}

bool json_canon_members(struct str object, const struct json_names *ordered,
                        struct json_canon_object *o, struct buf *out)
{
	struct taking t = {.o = o};
	struct copying c;

	o->count = 0;
	if (!begin(&c, object, out)) {
		return false;
	}
	const unsigned char *p = c.source;
	for (bool more = peek(&c, p) == '{'; more; more = peek(&c, p) == ',') {
		p = o->count < JSON_CANON_MEMBERS ? top_member(&c, blanks(&c, p + 1), ordered, &t)
		                                  : NULL;
		if (UNLIKELY(!p)) {
			return false;
		}
	}
	if (!o->count || peek(&c, p) != '}' || p + 1 != c.end) {
		return false;
	}
	end(&c, out);
	for (size_t i = 0; i < t.parts; i++) {
		o->parts[i].type = json_type(o->parts[i].value);
	}
	return true;
}
