/* Canonical objects whose shape is known: see canon_shape.h. The order that the scalars of a shape's
   text have in its canonical form tells how to put together that of any object of the shape. */
#include "json/canon_shape.h"

#include "json/lex.h"
#include "json/shape.h"

/* Some text of the canonical form, and after it scalars first .. last with the gaps between
   them. */
struct step {
	struct str text;
	uint16_t first, last;
};

struct canon_shape {
	struct shape shape;
	struct buf sorted; /* the canonical form of its text */
	size_t step_count, part_count;
	struct step steps[SHAPE_SCALARS_MAX];
	struct str tail; /* after the last step */
	struct range members[JSON_CANON_MEMBERS], parts[JSON_CANON_PARTS];
	struct json_canon_object object; /* keys; values when an object was read */
};

/* Finds the order of the scalars in the canonical form. */
static bool learn_steps(struct canon_shape *one)
{
	struct pieces sorted;
	struct step *step = NULL;

	if (!shape_split(buf_view(&one->sorted), &sorted)) {
		return false;
	}
	for (size_t i = 0; i < sorted.count; i++) {
		size_t scalar = shape_number(sorted.at[i]);

		if (step && scalar == step->last + 1U &&
		    str_eq(sorted.gaps[i], one->shape.gaps[scalar].text)) {
			step->last++;
			continue;
		}
		step = &one->steps[one->step_count++];
		*step = (struct step){sorted.gaps[i], (uint16_t)scalar, (uint16_t)scalar};
	}
	one->tail = sorted.gaps[sorted.count];
	return true;
}

/* A value of an object that keeps its order is in the canonical form where it was in the text. */
static void learn_values(struct canon_shape *one, const struct pieces *pieces)
{
	const struct json_canon_object *o = &one->object;

	for (size_t i = 0; i < o->count; i++) {
		one->members[i] = shape_range(pieces, one->sorted.p, o->members[i].value);
		one->part_count += o->inner[i].count;
	}
	for (size_t i = 0; i < one->part_count; i++) {
		one->parts[i] = shape_range(pieces, one->sorted.p, o->parts[i].value);
	}
}

static bool learn(struct shape *shape, const struct pieces *pieces, const void *context)
{
	struct canon_shape *one = (struct canon_shape *)shape;
	const struct json_canon_keys *keys = context;

	one->sorted = BUF(shape->text.n);
	if (!json_canon_members(buf_view(&shape->text), keys, &one->object, &one->sorted)) {
		return false;
	}
	learn_values(one, pieces);
	return learn_steps(one);
}

static void release(struct shape *shape)
{
	buf_release(&((struct canon_shape *)shape)->sorted);
}

struct json_shapes *json_canon_shapes_new(void)
{
	static const struct shape_user user = {sizeof(struct canon_shape), learn, release};

	return shapes_new(&user);
}

/* ---- an object whose shape is known ---- */

static char *put(char *to, const void *bytes, size_t n)
{
	memcpy(to, bytes, n);
	return to + n;
}

static void put_steps(const struct canon_shape *one, const unsigned char *const *at, char *to)
{
	for (const struct step *step = one->steps; step < one->steps + one->step_count; step++) {
		const unsigned char *from = at[step->first], *next = at[step->last + 1];

		to = put(to, step->text.p, step->text.n);
		to = put(to, from, (size_t)(next - from) - one->shape.gaps[step->last + 1].text.n);
	}
	put(to, one->tail.p, one->tail.n);
}

/* The copy of an object and the places of its scalars. */
struct copied {
	const unsigned char *const *at;
	const unsigned char *from;
	char *copy;
};

static void point(const struct copied *c, struct range range, struct json_member *m)
{
	const unsigned char *begin = place_in(c->at, range.begin);

	m->type = (enum json_type)json_types[*begin];
	m->value = (struct str){c->copy + (begin - c->from),
	                        (size_t)(place_in(c->at, range.end) - begin)};
}

static void point_all(const struct copied *c, struct canon_shape *one)
{
	for (size_t i = 0; i < one->object.count; i++) {
		point(c, one->members[i], &one->object.members[i]);
	}
	for (size_t i = 0; i < one->part_count; i++) {
		point(c, one->parts[i], &one->object.parts[i]);
	}
	one->object.used = (size_t)(c->at[one->shape.count] - c->from);
}

/* NULL if the copy does not fit. */
static const struct json_canon_object *copy(struct canon_shape *one, const unsigned char *const *at,
                                            struct str text, struct buf *out)
{
	const size_t n = (size_t)(at[one->shape.count] - lex_begin(text));
	const bool fits = out->n <= out->max && n <= out->max - out->n;
	struct copied c = {at, lex_begin(text), fits ? buf_room(out, n) : NULL};

	if (!c.copy) {
		return NULL;
	}
	put_steps(one, at, c.copy);
	point_all(&c, one);
	out->n += n;
	buf_add(out, "", 0); /* adds the terminating NUL */
	return &one->object;
}

const struct json_canon_object *json_canon_shaped(struct json_shapes *s, struct str text,
                                                  const struct json_canon_keys *keys,
                                                  struct json_canon_object *other, struct buf *out)
{
	const unsigned char *const *at;
	struct shape *known = shapes_find(s, text, true, &at);

	if (known) {
		return copy((struct canon_shape *)known, at, text, out);
	}
	if (!json_canon_members(text, keys, other, out)) {
		return NULL;
	}
	shapes_missed(s, (struct str){text.p, other->used}, keys);
	return other;
}
