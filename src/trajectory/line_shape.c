/* Lines of known shape: see line_shape.h. */
#include "trajectory/line_shape.h"

#include "base/mem.h"
#include "json/shape.h"
#include "trajectory/line_internal.h"

#include <stdlib.h>

/* A value whose key is in the table, and where it is. */
struct shaped_value {
	const struct line_key *row;
	struct range range;
};

struct line_shape {
	struct shape shape;
	size_t count;
	struct shaped_value values[LINE_MEMBERS_MAX];
};

struct line_shapes {
	struct json_shapes *of[LINE_TYPES]; /* without headers, which are checked further */
};

/* Fails if a key is unknown or out of order, as one that occurs twice is. */
static bool learn(struct shape *shape, const struct pieces *pieces, const void *context)
{
	const enum line_type *type = context;
	struct line_shape *one = (struct line_shape *)shape;
	struct json_member members[LINE_MEMBERS_MAX];
	struct json_known k = {
		.leads = line_leads(*type), .members = members, .max = LINE_MEMBERS_MAX};
	struct json_fault fault;
	size_t count;
	const struct line_key *rows = line_rows(*type, &count);

	if (json_validate_known(buf_view(&shape->text), &k, &fault) || k.count == k.max) {
		return false;
	}
	for (size_t i = 0; i < k.count; i++) {
		if (!members[i].lead) {
			return false;
		}
		one->values[i] =
			(struct shaped_value){&rows[members[i].lead - 1],
		                              shape_range(pieces, shape->text.p, members[i].value)};
	}
	one->count = k.count;
	return true;
}

struct line_shapes *line_shapes_new(void)
{
	static const struct shape_user user = {sizeof(struct line_shape), learn, NULL};
	struct line_shapes *s = mem_new(sizeof(*s));

	for (size_t i = 0; i < ARRAY_LEN(s->of); i++) {
		s->of[i] = i == LINE_HEADER ? NULL : shapes_new(&user);
	}
	return s;
}

void line_shapes_free(struct line_shapes *s)
{
	for (size_t i = 0; s && i < ARRAY_LEN(s->of); i++) {
		json_shapes_free(s->of[i]);
	}
	free(s);
}

/* False if a value does not fit its key. */
static bool take_values(const struct line_shape *one, const unsigned char *const *at,
                        struct line *out)
{
	for (const struct shaped_value *v = one->values; v < one->values + one->count; v++) {
		const unsigned char *begin = place_in(at, v->range.begin);
		struct str value = {(const char *)begin,
		                    (size_t)(place_in(at, v->range.end) - begin)};

		if (!line_key_fits(v->row, value, (enum json_type)json_types[*begin], out)) {
			return false;
		}
		out->value[v->row->key] = value;
	}
	return line_has(out, KEY_ROLLOUT);
}

/* Any line; learns its shape. */
static int parse_other(struct json_shapes *s, struct str text, enum line_type expected,
                       struct buf *scratch, struct line *out, size_t *used)
{
	struct line_object object;
	struct error err;

	if (line_parse_object(text, scratch, out, &object, &err) || object.line_feed) {
		return -1;
	}
	*used = object.used;
	if (s && out->type == expected) {
		shapes_missed(s, (struct str){text.p, object.used}, &expected);
	}
	return 0;
}

int line_shapes_parse(struct line_shapes *s, struct str text, struct buf *scratch, struct line *out,
                      size_t *used)
{
	const enum line_type expected = line_expected_type(text);
	struct json_shapes *shapes = expected < LINE_TYPES ? s->of[expected] : NULL;
	const unsigned char *const *at;
	const struct shape *shape = shapes ? shapes_find(shapes, text, false, &at) : NULL;

	if (!shape) {
		return parse_other(shapes, text, expected, scratch, out, used);
	}
	*used = (size_t)(at[shape->count] - (const unsigned char *)text.p);
	line_begin(out, (struct str){text.p, *used}, expected);
	if (!take_values((const struct line_shape *)shape, at, out)) {
		return -1;
	}
	line_decode(out, scratch);
	return 0;
}
