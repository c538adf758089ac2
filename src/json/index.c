/* Looks up names in large values: see index.h. */
#include "json/index.h"

#define SCANNED_BYTES 512 /* below this size a scan is faster than a map */

struct named {
	struct map_item item;
	struct str name, value;
};

/* The next item: its key is its name, as spelled; absent: it has none. */
static bool next_named(struct str value, size_t *cursor, struct json_member *m)
{
	if (json_type(value) == JSON_OBJECT)
		return json_next_member(value, cursor, m);
	if (!json_next(value, cursor, &m->value))
		return false;
	m->key = json_inner(json_type(m->value) == JSON_OBJECT ? JSON_GET(m->value, "name")
	                                                       : m->value);
	return true;
}

static void add(struct json_index *x, const struct json_member *m)
{
	struct str name = json_key_text(x->arena, m->key);
	uint64_t hash = map_hash(name);
	struct named *known = map_find(&x->names, hash, name);

	if (!known) {
		known = arena_new(x->arena, sizeof(*known));
		known->name = name;
		map_add(&x->names, &known->item, hash);
	}
	known->value = m->value;
}

void json_index_begin(struct json_index *x, struct str value, struct arena *arena)
{
	struct json_member m;

	*x = (struct json_index){.value = value,
	                         .arena = arena,
	                         .mapped = value.n > SCANNED_BYTES,
	                         .names = {.key = offsetof(struct named, name)}};
	for (size_t cursor = 0; x->mapped && next_named(value, &cursor, &m);)
		if (m.key.p)
			add(x, &m);
}

struct str json_index_find(const struct json_index *x, struct str name)
{
	struct str found = STR_NONE;
	struct json_member m;

	if (x->mapped) {
		const struct named *known = map_find(&x->names, map_hash(name), name);

		return known ? known->value : STR_NONE;
	}
	for (size_t cursor = 0; next_named(x->value, &cursor, &m);)
		found = m.key.p && json_key_is(m.key, name) ? m.value : found;
	return found;
}
