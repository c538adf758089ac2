/* Canonical objects whose structure is known: see canon_shape.h. A structure is learned from a copy
   of an object in which numbers stand for its scalars: the order that they have in the canonical
   form of the copy tells how to put together that of any object with the same structure.

   A few structures are known at a time. They are tried like paths of a tree: those that agree up to
   the place where one does not match continue from there, and no scalar is read twice. */
#include "json/canon_shape.h"

#include "base/mem.h"
#include "json/canon_scalar.h"

#include <stdlib.h>

#define SHAPES_MAX  16
#define SCALARS_MAX 128
#define BYTES_MAX   ((size_t)8 << 10) /* of keys and punctuation */
#define LEARN_COST  8 /* as many objects must be recognized to make up for learning one structure */
#define CREDIT_MAX  (SHAPES_MAX * LEARN_COST)
#define PAUSE       16           /* objects */
#define NUMBER      5            /* digits of a number that stands for a scalar */
#define FIRST       10000        /* the first of them */
#define LOADED      ((size_t)16) /* bytes that are compared at once */

/* The scalars of an object, and what is before, between and after them. An array of scalars counts
   as one. */
struct pieces {
	size_t count;                             /* of scalars */
	struct str gaps[SCALARS_MAX + 1];         /* gaps[i] is before scalar i */
	const unsigned char *at[SCALARS_MAX + 1]; /* where the scalars begin, and the end */
};

/* A gap of a known structure. One that is not longer than two loads matches if all bits of `mask`
   are set for the first bytes and for those from `last` on; 0: it is longer. */
struct gap {
	struct str text;
	unsigned mask, last;
};

/* `back` bytes before a scalar or the end of the object. */
struct place {
	uint16_t scalar, back;
};

struct range {
	struct place begin, end;
};

/* Some text of the canonical form, and after it scalars first .. last with the gaps between
   them. */
struct step {
	struct str text;
	uint16_t first, last;
};

struct shape {
	bool used;               /* lately */
	struct buf text, sorted; /* the copy with numbers, and its canonical form */
	size_t count, step_count, part_count;
	struct gap gaps[SCALARS_MAX + 1];
	struct step steps[SCALARS_MAX];
	struct str tail; /* after the last step */
	struct range members[JSON_CANON_MEMBERS], parts[JSON_CANON_PARTS];
	struct json_canon_object object; /* keys; values when an object was read */
};

struct json_shapes {
	struct shape *list[SHAPES_MAX];
	size_t count, latest;                  /* index of the structure of the latest object */
	size_t oldest;                         /* candidate for replacement */
	size_t common[SHAPES_MAX][SHAPES_MAX]; /* gaps with which both begin */
	/* Grows with each object that is recognized and shrinks with others; without credit, one
	   object in PAUSE is tried, as trying takes time. */
	unsigned credit, pause;
	const unsigned char
		*at[SCALARS_MAX + 1];     /* where the scalars of the object begin, and its end */
	struct json_canon_object another; /* an object of which no structure is known */
};

struct json_shapes *json_shapes_new(void)
{
	struct json_shapes *s = mem_new(sizeof(*s));

	s->credit = CREDIT_MAX;
	return s;
}

static void shape_free(struct shape *one)
{
	buf_release(&one->text);
	buf_release(&one->sorted);
	free(one);
}

void json_shapes_free(struct json_shapes *s)
{
	for (size_t i = 0; s && i < s->count; i++) {
		shape_free(s->list[i]);
	}
	free(s);
}

/* ---- learning a structure ---- */

/* The end of an array of scalars; NULL for other arrays, and if there are blanks. */
static const unsigned char *flat_array_end(const unsigned char *p, const unsigned char *end)
{
	if (end - p >= 2 && p[1] == ']') {
		return p + 2;
	}
	do {
		p++;
		if (p >= end || *p <= ' ' || *p == '{' || *p == '[') {
			return NULL;
		}
		p = lex_value(p, end);
	} while (p < end && *p == ',');
	return p < end && *p == ']' ? p + 1 : NULL;
}

/* The end of the key, scalar or array of scalars at p; NULL for punctuation. */
static const unsigned char *word_end(const unsigned char *p, const unsigned char *end)
{
	static const bool punctuation[256] = {
		['{'] = true, ['}'] = true, [']'] = true, [','] = true, [':'] = true,
	};

	if (punctuation[*p]) {
		return NULL;
	}
	return *p == '[' ? flat_array_end(p, end) : lex_value(p, end);
}

/* False if there are blanks between the tokens, or too many scalars. */
static bool split(struct str object, struct pieces *out)
{
	const unsigned char *p = lex_begin(object), *end = lex_end(object), *gap = p;

	out->count = 0;
	while (p < end && *p > ' ') {
		const unsigned char *after = word_end(p, end);

		if (!after || (after < end && *after == ':')) {
			p = after ? after : p + 1;
			continue;
		}
		if (out->count == SCALARS_MAX) {
			return false;
		}
		out->gaps[out->count] = lex_slice(gap, p);
		out->at[out->count++] = p;
		gap = p = after;
	}
	out->gaps[out->count] = lex_slice(gap, p);
	out->at[out->count] = p;
	return p == end && out->count > 0;
}

static void put_number(struct buf *out, size_t i)
{
	char digits[NUMBER];
	size_t n = FIRST + i;

	for (size_t k = NUMBER; k > 0; k--) {
		digits[k - 1] = (char)('0' + n % 10);
		n /= 10;
	}
	buf_add(out, digits, NUMBER);
}

/* Makes one->text, and its pieces. */
static bool number_scalars(struct shape *one, struct str object, struct pieces *pieces)
{
	if (!split(object, pieces)) {
		return false;
	}
	for (size_t i = 0; i <= pieces->count; i++) {
		if (i > 0) {
			put_number(&one->text, i - 1);
		}
		buf_str(&one->text, pieces->gaps[i]);
	}
	return buf_room(&one->text, LOADED) && !one->text.full &&
	       split(buf_view(&one->text), pieces);
}

static void learn_gaps(struct shape *one, const struct pieces *pieces)
{
	one->count = pieces->count;
	for (size_t i = 0; i <= pieces->count; i++) {
		const struct str text = pieces->gaps[i];
		const size_t first = text.n < LOADED ? text.n : LOADED;

		one->gaps[i] = (struct gap){
			.text = text,
			.mask = text.n <= 2 * LOADED ? (1U << first) - 1 : 0,
			.last = (unsigned)(text.n - first),
		};
	}
}

/* The place of a byte of the text. */
static struct place place_of(const struct pieces *text, size_t offset)
{
	const unsigned char *p = lex_begin(text->gaps[0]) + offset;
	size_t i = 0;

	while (i < text->count && text->at[i] < p) {
		i++;
	}
	return (struct place){(uint16_t)i, (uint16_t)(text->at[i] - p)};
}

/* A value of an object that keeps its order is in the canonical form where it was in the text. */
static struct range range_of(const struct shape *one, const struct pieces *text, struct str value)
{
	size_t at = (size_t)(value.p - one->sorted.p);

	return (struct range){place_of(text, at), place_of(text, at + value.n)};
}

static void learn_values(struct shape *one, const struct pieces *text)
{
	const struct json_canon_object *o = &one->object;

	one->part_count = 0;
	for (size_t i = 0; i < o->count; i++) {
		one->members[i] = range_of(one, text, o->members[i].value);
		one->part_count += o->inner[i].count;
	}
	for (size_t i = 0; i < one->part_count; i++) {
		one->parts[i] = range_of(one, text, o->parts[i].value);
	}
}

static size_t number_at(const unsigned char *p)
{
	size_t n = 0;

	for (size_t i = 0; i < NUMBER; i++) {
		n = 10 * n + (size_t)(p[i] - '0');
	}
	return n - FIRST;
}

/* Finds the order of the scalars in the canonical form. */
static void learn_steps(struct shape *one, const struct pieces *sorted)
{
	struct step *step = NULL;

	one->step_count = 0;
	for (size_t i = 0; i < sorted->count; i++) {
		size_t scalar = number_at(sorted->at[i]);

		if (step && scalar == step->last + 1U &&
		    str_eq(sorted->gaps[i], one->gaps[scalar].text)) {
			step->last++;
			continue;
		}
		step = &one->steps[one->step_count++];
		*step = (struct step){sorted->gaps[i], (uint16_t)scalar, (uint16_t)scalar};
	}
	one->tail = sorted->gaps[sorted->count];
}

static bool learn_shape(struct shape *one, struct str object, const struct json_canon_keys *keys)
{
	struct pieces pieces;

	if (!number_scalars(one, object, &pieces) ||
	    !json_canon_members(buf_view(&one->text), keys, &one->object, &one->sorted)) {
		return false;
	}
	learn_gaps(one, &pieces);
	learn_values(one, &pieces);
	if (!split(buf_view(&one->sorted), &pieces)) {
		return false;
	}
	learn_steps(one, &pieces);
	return true;
}

static size_t common_gaps(const struct shape *a, const struct shape *b)
{
	size_t i = 0;

	while (i <= a->count && i <= b->count && str_eq(a->gaps[i].text, b->gaps[i].text)) {
		i++;
	}
	return i;
}

/* An object whose structure is known was not recognized if an array in it has a string that is not
   canonical. */
static bool is_known(const struct json_shapes *s, const struct shape *one)
{
	for (size_t i = 0; i < s->count; i++) {
		if (common_gaps(one, s->list[i]) > one->count) {
			return true;
		}
	}
	return false;
}

/* The index of a structure to replace: one that was not used lately. */
static size_t evict(struct json_shapes *s)
{
	size_t i = s->oldest;

	while (s->list[i]->used) {
		s->list[i]->used = false;
		i = (i + 1) % SHAPES_MAX;
	}
	s->oldest = (i + 1) % SHAPES_MAX;
	shape_free(s->list[i]);
	return i;
}

static void learn(struct json_shapes *s, struct str object, const struct json_canon_keys *keys)
{
	struct shape *one = mem_new(sizeof(*one));

	one->used = true;
	one->text = one->sorted = BUF(BYTES_MAX);
	if (!learn_shape(one, object, keys) || is_known(s, one)) {
		shape_free(one);
		return;
	}
	size_t at = s->count < SHAPES_MAX ? s->count++ : evict(s);
	s->list[at] = one;
	for (size_t i = 0; i < s->count; i++) {
		s->common[i][at] = s->common[at][i] = common_gaps(one, s->list[i]);
	}
}

/* ---- an object with a known structure ---- */

ALWAYS_INLINE bool has_gap(const struct copying *c, const unsigned char *p, const struct gap *gap)
{
#ifdef JSON_SSE2
	if (LIKELY((size_t)(c->end - p) >= 2 * LOADED && gap->mask)) {
		const unsigned char *text = (const unsigned char *)gap->text.p;
		__m128i first = _mm_cmpeq_epi8(sse2_load(p), sse2_load(text));
		__m128i last =
			_mm_cmpeq_epi8(sse2_load(p + gap->last), sse2_load(text + gap->last));

		return (~sse2_mask(_mm_and_si128(first, last)) & gap->mask) == 0;
	}
#endif
	return (size_t)(c->end - p) >= gap->text.n && memcmp(p, gap->text.p, gap->text.n) == 0;
}

static const unsigned char *flat_array(struct copying *c, const unsigned char *p)
{
	if (peek(c, p + 1) == ']') {
		return p + 2;
	}
	do {
		p = scalar(c, p + 1);
	} while (p && peek(c, p) == ',');
	return p && peek(c, p) == ']' ? p + 1 : NULL;
}

/* Reads scalars as long as the structure matches, from number *i on, with its gap at p. Returns the
   place of the gap with which it differs, or after the object if it does not, with *i the number of
   gaps that match; NULL if a scalar is not valid or not canonical. */
static const unsigned char *read_scalars(struct json_shapes *s, const struct shape *one,
                                         struct copying *c, const unsigned char *p, size_t *i)
{
	for (; *i < one->count && LIKELY(has_gap(c, p, &one->gaps[*i])); (*i)++) {
		const unsigned char *at = p + one->gaps[*i].text.n;
		const unsigned char first = peek(c, at);
		const unsigned char *after = first == '[' ? flat_array(c, at) : scalar(c, at);

		if (UNLIKELY(!after || c->from != c->source)) {
			bool container = first == '{' || first == '[';

			return container && c->from == c->source ? p : NULL;
		}
		s->at[*i] = at;
		p = after;
	}
	if (*i == one->count && has_gap(c, p, &one->gaps[*i])) {
		p += one->gaps[*i].text.n;
		s->at[(*i)++] = p;
	}
	return p;
}

/* Finds the structure of the object, and its scalars. NULL if it has none of those known (*known is
   false then), or if a scalar is not canonical. */
static struct shape *recognize(struct json_shapes *s, struct copying *c, bool *known)
{
	const unsigned char *p = c->source;
	size_t i = 0, tried = s->latest;

	*known = true;
	for (size_t n = 0; n < s->count; n++) {
		size_t next = (s->latest + n) % s->count;

		if (n > 0 && s->common[tried][next] != i) {
			continue;
		}
		tried = next;
		p = read_scalars(s, s->list[tried], c, p, &i);
		if (!p) {
			return NULL;
		}
		if (i > s->list[tried]->count) {
			s->latest = tried;
			return s->list[tried];
		}
	}
	*known = false;
	return NULL;
}

static char *put(char *to, const void *bytes, size_t n)
{
	memcpy(to, bytes, n);
	return to + n;
}

static void put_steps(const struct shape *one, const unsigned char *const *at, char *to)
{
	for (const struct step *step = one->steps; step < one->steps + one->step_count; step++) {
		const unsigned char *from = at[step->first], *next = at[step->last + 1];

		to = put(to, step->text.p, step->text.n);
		to = put(to, from, (size_t)(next - from) - one->gaps[step->last + 1].text.n);
	}
	put(to, one->tail.p, one->tail.n);
}

static void point(const struct copying *c, const unsigned char *const *at, struct range range,
                  struct json_member *m)
{
	const unsigned char *begin = at[range.begin.scalar] - range.begin.back;
	const unsigned char *end = at[range.end.scalar] - range.end.back;

	m->type = (enum json_type)json_types[*begin];
	m->value = (struct str){c->copy + (begin - c->source), (size_t)(end - begin)};
}

static void point_all(const struct copying *c, const unsigned char *const *at, struct shape *one)
{
	for (size_t i = 0; i < one->object.count; i++) {
		point(c, at, one->members[i], &one->object.members[i]);
	}
	for (size_t i = 0; i < one->part_count; i++) {
		point(c, at, one->parts[i], &one->object.parts[i]);
	}
	one->object.used = (size_t)(at[one->count] - c->source);
}

static const struct json_canon_object *take(struct json_shapes *s, struct str text, struct buf *out,
                                            bool *known)
{
	struct copying c;
	struct shape *one = copy_begin(&c, text, out) ? recognize(s, &c, known) : NULL;

	if (!one) {
		return NULL;
	}
	one->used = true;
	put_steps(one, s->at, c.copy);
	point_all(&c, s->at, one);
	out->n += one->object.used;
	buf_add(out, "", 0); /* adds the terminating NUL */
	return &one->object;
}

static bool is_worth_trying(struct json_shapes *s)
{
	if (s->credit > 0) {
		return true;
	}
	s->pause = s->pause > 0 ? s->pause - 1 : PAUSE;
	return s->pause == 0;
}

static void add_unknown(struct json_shapes *s, struct str object,
                        const struct json_canon_keys *keys)
{
	unsigned cost = 1;

	if (s->credit == 0 || s->credit >= LEARN_COST) {
		learn(s, object, keys);
		cost = LEARN_COST;
	}
	s->credit -= s->credit < cost ? s->credit : cost;
}

const struct json_canon_object *json_canon_shaped(struct json_shapes *s, struct str text,
                                                  const struct json_canon_keys *keys,
                                                  struct buf *out)
{
	const struct json_canon_object *found = NULL;
	bool known = true;

	if (is_worth_trying(s)) {
		found = take(s, text, out, &known);
	}
	if (found) {
		s->credit += s->credit < CREDIT_MAX;
		return found;
	}
	if (!json_canon_members(text, keys, &s->another, out)) {
		return NULL;
	}
	if (!known) {
		add_unknown(s, (struct str){text.p, s->another.used}, keys);
	}
	return &s->another;
}
