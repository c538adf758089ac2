/* Lines in canonical form: see line_canonical.h. */
#include "trajectory/line_canonical.h"

#include "base/mem.h"
#include "json/canon_shape.h"

#include <stdlib.h>

#define BYTES_MAX (2 * BUF_MAX_MESSAGE)

struct canonical_parser {
	struct str ordered[KEY_COUNT]; /* keys of objects whose members have an order of ours */
	size_t ordered_count;
	struct json_shapes *shapes[LINE_UNKNOWN + 1]; /* of lines of each type */
	struct json_canon_object other;               /* a line of which no shape is known */
	struct buf copy, scratch;
};

static struct str name_of(enum key k)
{
	size_t i = 0;

	while (line_keys[i].key != k) {
		i++;
	}
	return (struct str){line_keys[i].name, line_keys[i].name_n};
}

struct canonical_parser *canonical_parser_new(void)
{
	struct canonical_parser *c = mem_new(sizeof(*c));

	*c = (struct canonical_parser){.copy = BUF(BYTES_MAX), .scratch = BUF(BUF_MAX_MESSAGE)};
	for (size_t i = 0; i < line_parts_count; i++) {
		if (i == 0 || line_parts[i].key != line_parts[i - 1].key) {
			c->ordered[c->ordered_count++] = name_of(line_parts[i].key);
		}
	}
	for (size_t i = 0; i < ARRAY_LEN(c->shapes); i++) {
		c->shapes[i] = json_canon_shapes_new();
	}
	return c;
}

void canonical_parser_free(struct canonical_parser *c)
{
	if (c) {
		buf_release(&c->copy);
		buf_release(&c->scratch);
		for (size_t i = 0; i < ARRAY_LEN(c->shapes); i++) {
			json_shapes_free(c->shapes[i]);
		}
		free(c);
	}
}

bool canonical_parse(struct canonical_parser *c, struct str text, struct line *out, size_t *used)
{
	const enum line_type expected = line_expected_type(text);
	const struct json_canon_keys keys = {c->ordered, c->ordered_count, line_leads(expected)};
	struct error ignored;

	buf_clear(&c->copy);
	const struct json_canon_object *o =
		json_canon_shaped(c->shapes[expected], text, &keys, &c->other, &c->copy);
	if (!o) {
		return false;
	}
	const struct line_members members = {o->members, o->count, expected};
	if (line_of_members(buf_view(&c->copy), &members, &c->scratch, out, &ignored)) {
		return false;
	}
	out->text = (struct str){text.p, o->used};
	out->canonical = o;
	*used = o->used;
	return true;
}

const struct json_member *canonical_parts(const struct line *l, enum key k, size_t *count)
{
	const struct json_canon_object *o = l->canonical;
	size_t i = o->count;

	while (i > 0 && o->members[i - 1].value.p != l->value[k].p) { /* `meta` is the last */
		i--;
	}
	*count = i > 0 ? o->inner[i - 1].count : 0;
	return *count ? &o->parts[o->inner[i - 1].first] : NULL;
}
