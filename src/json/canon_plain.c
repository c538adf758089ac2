/* The canonical form without masking, checked and written in one pass. Most bytes of most values
   are canonical already: they are copied in long runs, each up to the next byte that is not (a
   blank, an escape with another form), or up to the end of an object with unsorted keys, which is
   sorted when it closes. No token gets longer, so the space is reserved at the start. */
#include "json/canon_plain.h"

#include "json/canon_object.h"
#include "json/canon_scalar.h"
#include "json/scan_internal.h"

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
	const unsigned char *after = key(c, p);

	if (UNLIKELY(!after || c->members_n == ARRAY_LEN(c->members))) {
		return NULL;
	}
	*m = (struct written_member){.key = lex_slice(p + 1, after - 1), .at = place(c, p)};
	if (c->members_n++ > f->members) {
		m[-1].end = m->at - 1;
		f->sorted = f->sorted && key_order(m[-1].key, m->key) <= 0;
	}
	if (LIKELY(c->end - after >= 2 && after[0] == ':' && after[1] > ' ')) {
		return after + 1;
	}
	p = blanks(c, after);
	return LIKELY(peek(c, p) == ':') ? blanks(c, p + 1) : NULL;
}

/* Copies an object or array; p is at its opening bracket. */
static const unsigned char *container(struct copying *c, const unsigned char *p, bool sorted)
{
	p = enter(c, p);
	for (bool entered = true; LIKELY(p != NULL);) {
		if (LIKELY(c->end - p >= 2 && p[0] == ',' && p[1] > ' ' && !entered)) {
			p++;
		} else if (!entered || peek(c, p) == c->frame->closer) {
			p = leave(c, blanks(c, p), sorted);
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
	}
	return NULL;
}

ALWAYS_INLINE const unsigned char *value_at(struct copying *c, const unsigned char *p, bool sorted)
{
	return opens(peek(c, p)) ? container(c, p, sorted) : scalar(c, p);
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
	const unsigned char *p = value_at(&c, blanks(&c, c.source), true);
	if (!p || blanks(&c, p) != c.end) {
		return false;
	}
	end(&c, c.end, out);
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
	m->lead = lead_at(p, c->end, &t->keys->leads, t->next);
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
	return LIKELY(peek(c, p) == ':') ? blanks(c, p + 1) : NULL;
}

/* From a key to the comma or brace after its value. */
static const unsigned char *top_member(struct copying *c, const unsigned char *p, struct taking *t)
{
	struct json_member *m = &t->o->members[t->o->count];

	p = top_key(c, p, t, m);
	if (UNLIKELY(!p)) {
		return NULL;
	}
	m->type = (enum json_type)json_types[peek(c, p)];
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
	const unsigned char *p = c.source;
	for (bool more = peek(&c, p) == '{'; more; more = peek(&c, p) == ',') {
		p = o->count < JSON_CANON_MEMBERS ? top_member(&c, blanks(&c, p + 1), &t) : NULL;
		if (UNLIKELY(!p)) {
			return false;
		}
	}
	if (!o->count || peek(&c, p) != '}') {
		return false;
	}
	o->used = (size_t)(p + 1 - c.source);
	end(&c, p + 1, out);
	for (size_t i = 0; i < t.parts; i++) {
		o->parts[i].type = json_type(o->parts[i].value);
	}
	return true;
}
