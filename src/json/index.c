/* Looks up names in large values: see index.h. */
#include "json/index.h"

#define SCANNED_BYTES 512 /* below this size a scan is faster than a map */

struct named {
	struct map_item item;
	struct str name, value;
};

/* Reads the next item with its decoded name. A name without escapes is borrowed. */
static bool next_named(struct str value, size_t *cursor, struct arena *a, struct named *out)
{
	struct json_member m;
	struct str each;

	if (json_type(value) == JSON_OBJECT) {
		if (!json_next_member(value, cursor, &m))
			return false;
		*out = (struct named){.name = json_key_text(a, m.key), .value = m.value};
		return true;
	}
	if (json_type(value) != JSON_ARRAY || !json_next(value, cursor, &each))
		return false;
	struct str name = json_type(each) == JSON_OBJECT ? JSON_GET(each, "name") : each;
	*out = (struct named){.name = json_type(name) == JSON_STRING ? json_text(a, name)
	                                                             : STR_NONE,
	                      .value = each};
	return true;
}

static void add(struct json_index *x, const struct named *one)
{
	uint64_t hash = map_hash(one->name);
	struct named *known = map_find(&x->names, hash, one->name);

	if (known) {
		known->value = one->value;
		return;
	}
	struct named *kept = arena_new(&x->arena, sizeof(*kept));
	*kept = *one;
	map_add(&x->names, &kept->item, hash);
}

void json_index_begin(struct json_index *x, struct str value)
{
	struct named one;

	*x = (struct json_index){.value = value,
	                         .mapped = value.n > SCANNED_BYTES,
	                         .names = {.key = offsetof(struct named, name)}};
	for (size_t cursor = 0; x->mapped && next_named(value, &cursor, &x->arena, &one);)
		if (one.name.p)
			add(x, &one);
}

void json_index_release(struct json_index *x)
{
	arena_release(&x->arena);
}

struct str json_index_find(const struct json_index *x, struct str name)
{
	struct arena scratch = {0};
	struct str found = STR_NONE;
	struct named one;

	if (x->mapped) {
		const struct named *known = map_find(&x->names, map_hash(name), name);

		return known ? known->value : STR_NONE;
	}
	for (size_t cursor = 0; next_named(x->value, &cursor, &scratch, &one);)
		found = one.name.p && str_eq(one.name, name) ? one.value : found;
	arena_release(&scratch);
	return found;
}
