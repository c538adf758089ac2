/* Lists all values within a value: see tape.h. */
#include "json/tape.h"

#include "base/mem.h"
#include "json/lex.h"
#include "json/scan.h"

#include <stdlib.h>

static void add_node(struct json_tape *t, struct str key, struct str value)
{
	if (t->count == t->room) {
		t->room = t->room ? 2 * t->room : 64;
		t->nodes = mem_resize(t->nodes, t->room, sizeof(*t->nodes));
	}
	t->nodes[t->count++] = (struct json_node){.key = key, .value = value, .size = 1};
}

void json_tape_read(struct json_tape *t, struct str value)
{
	const unsigned char *end = lex_end(value), *p = lex_begin(value), *after;
	size_t open[JSON_DEPTH_MAX + JSON_DEPTH_AROUND], depth = 0;
	struct str key = STR_NONE;

	for (t->count = 0; (p = lex_blanks(p, end)) < end; p = after) {
		const bool opens = *p == '{' || *p == '[';
		struct json_node *parent = depth ? &t->nodes[open[depth - 1]] : NULL;

		after = p + 1;
		if (*p == ',' || *p == ':')
			continue;
		if (parent && (*p == ']' || *p == '}')) {
			parent->value = lex_slice(lex_begin(parent->value), after);
			parent->size = t->count - open[--depth];
			continue;
		}
		after = opens ? after : lex_value(p, end);
		if (parent && parent->value.p[0] == '{' && !key.p) {
			key = lex_slice(p + 1, after - 1);
			continue;
		}
		if (parent)
			parent->count++;
		add_node(t, key, lex_slice(p, after));
		key = STR_NONE;
		if (opens)
			open[depth++] = t->count - 1;
	}
}

void json_tape_release(struct json_tape *t)
{
	free(t->nodes);
	*t = (struct json_tape){.count = 0};
}
