/* The canonical form without masking, checked and written in one pass. Most bytes of most values
   are canonical already: they are copied in long runs, each up to the next byte that is not (a
   blank, an escape with another form), or up to the end of an object with unsorted keys, which is
   sorted when it closes. No token gets longer, so the space is reserved at the start. */
#include "json/canon_plain.h"

#include "json/canon_object.h"
#include "json/scalar.h"
#include "json/scan_internal.h"
#include "json/sort.h"

#define DEPTH_MAX   32
#define MEMBERS_MAX 128

struct plain_frame {
	size_t members; /* index of its first member */
	bool sorted;    /* the keys so far are sorted */
	unsigned char closer;
};

struct copying {
	struct scan scan;
	struct seen seen;
	struct json_fault fault;   /* not reported */
	const unsigned char *from; /* the first byte not copied yet */
	size_t dropped;            /* bytes before `from` that the copy lacks */
	char *copy;
	bool one_line; /* the text ends at a line feed between tokens */
	size_t members_n;
	size_t kept;               /* number of members of the last outermost container */
	struct plain_frame *frame; /* the innermost; frames[0] is a sentinel */
	struct plain_frame frames[DEPTH_MAX + 1];
	struct written_member members[MEMBERS_MAX];
};

/* False if the copy might not fit. */
static bool copy_begin(struct copying *c, struct str text, struct buf *out)
{
	c->seen = (struct seen){0};
	c->scan = scan_of(text, &c->seen, &c->fault);
	c->scan.canonical = true;
	c->from = c->scan.begin;
	c->dropped = 0;
	c->one_line = false;
	c->members_n = 0;
	c->frame = c->frames;
	c->frames[0] = (struct plain_frame){.sorted = true};
	c->copy = text.n <= out->max && out->n <= out->max - text.n ? buf_room(out, text.n) : NULL;
	return c->copy != NULL;
}

/* The functions below take the place where they begin and return the place after it, or NULL for
   what is not JSON or not supported. */

/* The offset in the copy of the byte at p, which is not before c->from. */
ALWAYS_INLINE size_t place(const struct copying *c, const unsigned char *p)
{
	return (size_t)(p - c->scan.begin) - c->dropped;
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
	const unsigned char *after = lex_blanks(p, c->scan.end);
	const unsigned char *feed = c->one_line ? memchr(p, '\n', (size_t)(after - p)) : NULL;

	if (feed) {
		c->scan.end = after = feed;
	}
	put_instead(c, p, after, "", 0);
	return after;
}

ALWAYS_INLINE const unsigned char *blanks(struct copying *c, const unsigned char *p)
{
	return LIKELY(peek(&c->scan, p) > ' ') ? p : drop_blanks(c, p);
}

/* ---- strings, keys ---- */

/* A string with an escape that has another canonical form; p is after the opening quote. */
static __attribute__((noinline)) const unsigned char *respell(struct copying *c,
                                                              const unsigned char *p)
{
	c->scan.canonical = false;
	const unsigned char *end = string(&c->scan, p, false);
	c->scan.canonical = true;
	c->seen.string_n = 0; /* it may be this string */

	while (end && (p = memchr(p, '\\', (size_t)(end - p)))) {
		const unsigned char *after = p;
		char text[6];
		size_t n = lex_canonical(lex_unescape(&after, end), text);

		if ((size_t)(after - p) != n || memcmp(p, text, n) != 0) {
			put_instead(c, p, after, text, n);
		}
		p = after;
	}
	return end;
}

/* Any value except an array or object. */
ALWAYS_INLINE const unsigned char *copy_scalar(struct copying *c, const unsigned char *p)
{
	const unsigned char *after = scalar(&c->scan, p);

	return LIKELY(after != NULL) || peek(&c->scan, p) != '"' ? after : respell(c, p + 1);
}

static __attribute__((noinline)) const unsigned char *long_key(struct copying *c,
                                                               const unsigned char *p)
{
	const unsigned char *after = string(&c->scan, p, true);

	return after && !memchr(p, '\\', (size_t)(after - p)) ? after : NULL;
}

/* Keys repeat from object to object, so their lengths are predictable. */
ALWAYS_INLINE const unsigned char *key(struct copying *c, const unsigned char *p)
{
	if (UNLIKELY(peek(&c->scan, p) != '"')) {
		return NULL;
	}
	p++;
#ifdef JSON_SSE2
	if (LIKELY(c->scan.end - p >= 16)) {
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
	struct written_member *m = &c->members[c->frame->members];
	size_t n = c->members_n - c->frame->members;
	const unsigned char *begin = (const unsigned char *)m->key.p - 1;

	m[n - 1].end = place(c, p);
	if (c->from <= begin) { /* no byte of the object was copied yet, or differs */
		copy_to(c, begin);
		sort_unwritten(m, n, begin, c->copy);
		c->from = p;
	} else {
		copy_to(c, p);
		sort_written(m, n, c->copy);
	}
}

/* Closes everything that ends here and leaves an unfinished container, or the sentinel, as the
   innermost frame. */
ALWAYS_INLINE const unsigned char *leave(struct copying *c, const unsigned char *p, bool sorted)
{
	while (peek(&c->scan, p) == c->frame->closer) {
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
	const unsigned char *after = key(c, p);

	if (UNLIKELY(!after || c->members_n == ARRAY_LEN(c->members))) {
		return NULL;
	}
	*m = (struct written_member){.key = lex_slice(p + 1, after - 1), .at = place(c, p)};
	if (c->members_n++ > f->members) {
		m[-1].end = m->at - 1;
		f->sorted = f->sorted && key_order(m[-1].key, m->key) <= 0;
	}
	if (LIKELY(c->scan.end - after >= 2 && after[0] == ':' && after[1] > ' ')) {
		return after + 1;
	}
	p = blanks(c, after);
	return LIKELY(peek(&c->scan, p) == ':') ? blanks(c, p + 1) : NULL;
}

/* Copies an object or array; p is at its opening bracket. */
static const unsigned char *container(struct copying *c, const unsigned char *p, bool sorted)
{
	p = enter(c, p);
	for (bool entered = true; LIKELY(p != NULL);) {
		if (LIKELY(c->scan.end - p >= 2 && p[0] == ',' && p[1] > ' ' && !entered)) {
			p++;
		} else if (!entered || peek(&c->scan, p) == c->frame->closer) {
			p = leave(c, blanks(c, p), sorted);
			if (c->frame == c->frames) {
				return p;
			}
			if (UNLIKELY(peek(&c->scan, p) != ',')) {
				return NULL;
			}
			p = blanks(c, p + 1);
		}
		if (c->frame->closer == '}' && UNLIKELY(!(p = member(c, p)))) {
			return NULL;
		}
		entered = opens(peek(&c->scan, p));
		p = entered ? enter(c, p) : copy_scalar(c, p);
	}
	return NULL;
}

ALWAYS_INLINE const unsigned char *value_at(struct copying *c, const unsigned char *p, bool sorted)
{
	return opens(peek(&c->scan, p)) ? container(c, p, sorted) : copy_scalar(c, p);
}

/* p is after the value. */
static void end(struct copying *c, const unsigned char *p, struct buf *out)
{
	copy_to(c, p);
	out->n += place(c, p);
	buf_add(out, "", 0); /* adds the terminating NUL */
}

bool canon_plain(struct str value, struct buf *out)
{
	struct copying c;

	if (!copy_begin(&c, value, out)) {
		return false;
	}
	const unsigned char *p = value_at(&c, blanks(&c, c.scan.begin), true);
	if (!p || blanks(&c, p) != c.scan.end) {
		return false;
	}
	end(&c, c.scan.end, out);
	return true;
}

/* ---- the members of an object, one by one ---- */

struct taking {
	const struct json_canon_keys *keys;
	struct json_canon_object *o;
	size_t parts;
	unsigned next; /* index of the lead expected next */
};

static bool keeps_order(const struct json_canon_keys *keys, struct str key)
{
	for (size_t i = 0; i < keys->ordered_count; i++) {
		if (str_eq(key, keys->ordered[i])) {
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

/* From a key to its value. */
ALWAYS_INLINE const unsigned char *top_key(struct copying *c, const unsigned char *p,
                                           struct taking *t, struct json_member *m)
{
	m->lead = lead_at(p, c->scan.end, &t->keys->leads, t->next);
	if (LIKELY(m->lead)) {
		size_t n = t->keys->leads.list[m->lead - 1].n;

		t->next = m->lead;
		m->key = (struct str){(const char *)p + 1, n - 3};
		return blanks(c, p + n);
	}
	const unsigned char *after = key(c, p);
	if (UNLIKELY(!after)) {
		return NULL;
	}
	m->key = lex_slice(p + 1, after - 1);
	p = blanks(c, after);
	return LIKELY(peek(&c->scan, p) == ':') ? blanks(c, p + 1) : NULL;
}

/* From a key to the comma or brace after its value. */
static const unsigned char *top_member(struct copying *c, const unsigned char *p, struct taking *t)
{
	struct json_member *m = &t->o->members[t->o->count];

	p = top_key(c, p, t, m);
	if (UNLIKELY(!p)) {
		return NULL;
	}
	m->type = (enum json_type)json_types[peek(&c->scan, p)];
	m->value.p = c->copy + place(c, p);
	bool keeps = m->type == JSON_OBJECT && keeps_order(t->keys, m->key);
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

bool json_canon_members(struct str text, const struct json_canon_keys *keys,
                        struct json_canon_object *o, struct buf *out)
{
	struct taking t = {.keys = keys, .o = o};
	struct copying c;

	o->count = 0;
	if (!copy_begin(&c, text, out)) {
		return false;
	}
	c.one_line = true;
	const unsigned char *p = c.scan.begin;
	for (bool more = peek(&c.scan, p) == '{'; more; more = peek(&c.scan, p) == ',') {
		p = o->count < JSON_CANON_MEMBERS ? top_member(&c, blanks(&c, p + 1), &t) : NULL;
		if (UNLIKELY(!p)) {
			return false;
		}
	}
	if (!o->count || peek(&c.scan, p) != '}') {
		return false;
	}
	o->used = (size_t)(p + 1 - c.scan.begin);
	end(&c, p + 1, out);
	for (size_t i = 0; i < t.parts; i++) {
		o->parts[i].type = json_type(o->parts[i].value);
	}
	return true;
}
