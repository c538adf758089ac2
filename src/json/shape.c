/* Known shapes of objects: see shape.h. A shape is learned from a copy of an object in which numbers
   stand for its scalars, so that they are recognized wherever a user puts them.

   A few shapes are known at a time. They are tried like paths of a tree: those that agree up to the
   place where one does not match continue from there, and no scalar is read twice. */
#include "json/shape.h"

#include "base/mem.h"
#include "json/scalar.h"

#include <stdlib.h>

#define BYTES_MAX  ((size_t)8 << 10) /* of keys and punctuation */
#define LEARN_COST 8 /* as many objects must be recognized to make up for learning one shape */
#define CREDIT_MAX (SHAPES_MAX * LEARN_COST)
#define PAUSE      16           /* objects */
#define NUMBER     5            /* digits of a number that stands for a scalar */
#define FIRST      10000        /* the first of them */
#define LOADED     ((size_t)16) /* bytes that are compared at once */

struct json_shapes {
	const struct shape_user *user;
	struct shape *list[SHAPES_MAX];
	size_t count, latest;                  /* index of the shape of the latest object */
	size_t oldest;                         /* candidate for replacement */
	size_t common[SHAPES_MAX][SHAPES_MAX]; /* gaps with which both begin */
	/* Grows with each object that is recognized and shrinks with others; without credit, one
	   object in PAUSE is tried, as trying takes time. */
	unsigned credit, pause;
	bool unknown; /* the latest object has none of these shapes */
	const unsigned char *at[SHAPE_SCALARS_MAX + 1]; /* where its scalars begin, and its end */
};

struct json_shapes *shapes_new(const struct shape_user *user)
{
	struct json_shapes *s = mem_new(sizeof(*s));

	s->user = user;
	s->credit = CREDIT_MAX;
	return s;
}

static void shape_free(const struct json_shapes *s, struct shape *one)
{
	if (s->user->release) {
		s->user->release(one);
	}
	buf_release(&one->text);
	free(one);
}

void json_shapes_free(struct json_shapes *s)
{
	for (size_t i = 0; s && i < s->count; i++) {
		shape_free(s, s->list[i]);
	}
	free(s);
}

/* ---- learning a shape ---- */

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

bool shape_split(struct str object, struct pieces *out)
{
	const unsigned char *p = lex_begin(object), *end = lex_end(object), *gap = p;

	out->count = 0;
	while (p < end && *p > ' ') {
		const unsigned char *after = word_end(p, end);

		if (!after || (after < end && *after == ':')) {
			p = after ? after : p + 1;
			continue;
		}
		if (out->count == SHAPE_SCALARS_MAX) {
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
	if (!shape_split(object, pieces)) {
		return false;
	}
	for (size_t i = 0; i <= pieces->count; i++) {
		if (i > 0) {
			put_number(&one->text, i - 1);
		}
		buf_str(&one->text, pieces->gaps[i]);
	}
	return buf_room(&one->text, LOADED) && !one->text.full &&
	       shape_split(buf_view(&one->text), pieces);
}

size_t shape_number(const unsigned char *p)
{
	size_t n = 0;

	for (size_t i = 0; i < NUMBER; i++) {
		n = 10 * n + (size_t)(p[i] - '0');
	}
	return n - FIRST;
}

static struct place place_of(const struct pieces *pieces, const unsigned char *p)
{
	size_t i = 0;

	while (i < pieces->count && pieces->at[i] < p) {
		i++;
	}
	return (struct place){(uint16_t)i, (uint16_t)(pieces->at[i] - p)};
}

struct range shape_range(const struct pieces *pieces, const char *text, struct str slice)
{
	const unsigned char *begin = lex_begin(pieces->gaps[0]) + (slice.p - text);

	return (struct range){place_of(pieces, begin), place_of(pieces, begin + slice.n)};
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

static size_t common_gaps(const struct shape *a, const struct shape *b)
{
	size_t i = 0;

	while (i <= a->count && i <= b->count && str_eq(a->gaps[i].text, b->gaps[i].text)) {
		i++;
	}
	return i;
}

/* An object whose shape is known was not recognized if an array in it has a string that is not
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

/* The index of a shape to replace: one that was not used lately. */
static size_t evict(struct json_shapes *s)
{
	size_t i = s->oldest;

	while (s->list[i]->used) {
		s->list[i]->used = false;
		i = (i + 1) % SHAPES_MAX;
	}
	s->oldest = (i + 1) % SHAPES_MAX;
	shape_free(s, s->list[i]);
	return i;
}

static void learn(struct json_shapes *s, struct str object, const void *context)
{
	struct shape *one = mem_new(s->user->size);
	struct pieces pieces;

	one->used = true;
	one->text = BUF(BYTES_MAX);
	bool learned = number_scalars(one, object, &pieces);
	if (learned) {
		learn_gaps(one, &pieces);
		learned = !is_known(s, one) && s->user->learn(one, &pieces, context);
	}
	if (!learned) {
		shape_free(s, one);
		return;
	}
	size_t at = s->count < SHAPES_MAX ? s->count++ : evict(s);
	s->list[at] = one;
	for (size_t i = 0; i < s->count; i++) {
		s->common[i][at] = s->common[at][i] = common_gaps(one, s->list[i]);
	}
}

void shapes_missed(struct json_shapes *s, struct str object, const void *context)
{
	unsigned cost = 1;

	if (!s->unknown) {
		return;
	}
	if (s->credit == 0 || s->credit >= LEARN_COST) {
		learn(s, object, context);
		cost = LEARN_COST;
	}
	s->credit -= s->credit < cost ? s->credit : cost;
}

/* ---- an object with a known shape ---- */

ALWAYS_INLINE bool has_gap(const struct scan *s, const unsigned char *p, const struct gap *gap)
{
#ifdef JSON_SSE2
	if (LIKELY((size_t)(s->end - p) >= 2 * LOADED && gap->mask)) {
		const unsigned char *text = lex_begin(gap->text);
		__m128i first = _mm_cmpeq_epi8(sse2_load(p), sse2_load(text));
		__m128i last =
			_mm_cmpeq_epi8(sse2_load(p + gap->last), sse2_load(text + gap->last));

		return (~sse2_mask(_mm_and_si128(first, last)) & gap->mask) == 0;
	}
#endif
	return (size_t)(s->end - p) >= gap->text.n && memcmp(p, gap->text.p, gap->text.n) == 0;
}

static const unsigned char *flat_array(const struct scan *s, const unsigned char *p)
{
	if (peek(s, p + 1) == ']') {
		return p + 2;
	}
	do {
		p = scalar(s, p + 1);
	} while (p && peek(s, p) == ',');
	return p && peek(s, p) == ']' ? p + 1 : NULL;
}

/* Most scalars are strings. */
ALWAYS_INLINE const unsigned char *read_scalar(const struct scan *s, const unsigned char *p)
{
	unsigned char first = peek(s, p);

	if (LIKELY(first == '"')) {
		return string(s, p + 1, false);
	}
	return first == '[' ? flat_array(s, p) : scalar(s, p);
}

/* Reads scalars as long as the shape matches, from number *i on, with its gap at p. Returns the place
   of the gap with which it differs, or after the object if it does not, with *i the number of gaps
   that match; NULL if a scalar is not valid or not canonical. */
static const unsigned char *read_scalars(struct json_shapes *shapes, const struct shape *one,
                                         const struct scan *s, const unsigned char *p, size_t *i)
{
	for (; *i < one->count && LIKELY(has_gap(s, p, &one->gaps[*i])); (*i)++) {
		const unsigned char *at = p + one->gaps[*i].text.n, *after = read_scalar(s, at);

		if (UNLIKELY(!after)) {
			return peek(s, at) == '{' || peek(s, at) == '[' ? p : NULL;
		}
		shapes->at[*i] = at;
		p = after;
	}
	if (*i == one->count && has_gap(s, p, &one->gaps[*i])) {
		p += one->gaps[*i].text.n;
		shapes->at[(*i)++] = p;
	}
	return p;
}

static struct shape *recognize(struct json_shapes *shapes, const struct scan *s)
{
	const unsigned char *p = s->begin;
	size_t i = 0, tried = shapes->latest;

	for (size_t n = 0, next = tried; n < shapes->count; n++, next++) {
		next = next < shapes->count ? next : 0;
		if (n > 0 && shapes->common[tried][next] != i) {
			continue;
		}
		tried = next;
		p = read_scalars(shapes, shapes->list[tried], s, p, &i);
		if (!p) {
			return NULL;
		}
		if (i > shapes->list[tried]->count) {
			shapes->latest = tried;
			return shapes->list[tried];
		}
	}
	shapes->unknown = true;
	return NULL;
}

static bool is_worth_trying(struct json_shapes *s)
{
	if (s->credit > 0) {
		return true;
	}
	s->pause = s->pause > 0 ? s->pause - 1 : PAUSE;
	return s->pause == 0;
}

struct shape *shapes_find(struct json_shapes *s, struct str text, bool canonical,
                          const unsigned char *const **at)
{
	struct json_fault fault;
	struct seen seen = {0};
	struct scan scan = scan_of(text, &seen, &fault);

	scan.canonical = canonical;
	s->unknown = false;
	struct shape *found = is_worth_trying(s) ? recognize(s, &scan) : NULL;
	if (found) {
		found->used = true;
		s->credit += s->credit < CREDIT_MAX;
		*at = s->at;
	}
	return found;
}
