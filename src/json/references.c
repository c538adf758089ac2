/* Resolves JSON Pointers into one schema, with a map for each container: see references.h. */
#include "json/references.h"

#include "json/lex.h"

#include <stdio.h>

/* A container and its children by name or index. */
struct indexed_container {
	struct map_item item;
	struct map children;
};

struct indexed_value {
	struct map_item item;
	struct str value;
};

void references_begin(struct references *r, struct str root, struct arena *arena)
{
	*r = (struct references){.root = root, .arena = arena};
}

/* The last of equal names wins. */
static void add_child(struct references *r, struct indexed_container *p, struct str name,
                      struct str value)
{
	uint64_t hash = map_hash(name);
	struct indexed_value *c = map_find(&p->children, hash, STR_NONE);

	if (!c) {
		c = arena_new(r->arena, sizeof(*c));
		map_add(&p->children, &c->item, hash);
	}
	c->value = value;
}

static void add_children(struct references *r, struct indexed_container *p, struct str container)
{
	struct arena names = {0};
	struct json_member m;
	struct str each;
	char index[32];
	size_t cursor = 0;

	if (json_type(container) == JSON_ARRAY) {
		for (size_t i = 0; json_next(container, &cursor, &each); i++) {
			snprintf(index, sizeof(index), "%zu", i);
			add_child(r, p, str_from(index), each);
		}
		return;
	}
	while (json_type(container) == JSON_OBJECT && json_next_member(container, &cursor, &m)) {
		add_child(r, p, json_key_text(&names, m.key), m.value);
	}
	arena_release(&names);
}

static struct indexed_container *parent_at(struct references *r, struct str pointer)
{
	uint64_t hash = map_hash(pointer);
	struct indexed_container *p = map_find(&r->parents, hash, STR_NONE);
	struct buf scratch = BUF(BUF_MAX_MESSAGE);

	if (p || r->parents.count == REFERENCES_PARENTS_MAX) {
		return p;
	}
	p = arena_new(r->arena, sizeof(*p));
	map_add(&r->parents, &p->item, hash);
	struct str container = json_point(r->root, pointer, &scratch);
	add_children(r, p, scratch.n ? STR_NONE : container);
	buf_release(&scratch);
	return p;
}

struct str references_point(struct references *r, struct str pointer)
{
	struct buf token = BUF(BUF_MAX_SMALL);
	struct str parent = pointer, found = STR_NONE;

	if (!pointer.n) {
		return r->root;
	}
	while (parent.n && parent.p[parent.n - 1] != '/') {
		parent.n--;
	}
	if (!parent.n) {
		return STR_NONE;
	}
	parent.n--; /* exclude the slash */
	const struct indexed_container *p = parent_at(r, parent);
	if (p && lex_token(str_skip(pointer, parent.n + 1), false, &token)) {
		const struct indexed_value *c =
			map_find(&p->children, map_hash(buf_view(&token)), STR_NONE);

		found = c ? c->value : STR_NONE;
	}
	buf_release(&token);
	return found;
}
