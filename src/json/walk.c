/* Walks a value with a stack of open containers: see walk.h. */
#include "json/walk.h"

#include "base/mem.h"
#include "json/paths.h"
#include "json/scan.h"

#include <stdlib.h>

struct open_container {
	struct str container;
	size_t cursor, index;
	size_t pointer_n; /* length of the container's pointer */
	struct buf text;  /* owns a container that was held in a string */
};

struct walking {
	struct open_container *levels;
	size_t depth;
	struct buf pointer;
};

static void enter(struct walking *w, struct str value)
{
	struct buf text = BUF(0);
	struct str container = json_held(value, &text);

	if (!container.p) {
		buf_release(&text);
		return;
	}
	w->levels = mem_grow(w->levels, w->depth, sizeof(*w->levels));
	w->levels[w->depth++] = (struct open_container){
		.container = container, .pointer_n = w->pointer.n, .text = text};
}

/* The next child of the innermost container; its token is appended to w->pointer. */
static bool next_child(struct walking *w, struct str *value)
{
	struct open_container *l = &w->levels[w->depth - 1];
	struct json_member m;

	buf_cut(&w->pointer, l->pointer_n);
	if (json_type(l->container) == JSON_ARRAY) {
		buf_printf(&w->pointer, "/%zu", l->index++);
		return json_next(l->container, &l->cursor, value);
	}
	if (!json_next_member(l->container, &l->cursor, &m))
		return false;
	json_pointer_add_key(&w->pointer, m.key);
	*value = m.value;
	return true;
}

void json_walk(struct str value, json_walk_fn *take, void *ctx)
{
	struct walking w = {.pointer = BUF(BUF_MAX_MESSAGE)};
	bool going = true;

	enter(&w, value);
	while (w.depth && going) {
		struct str child;

		if (next_child(&w, &child)) {
			going = take(ctx, buf_view(&w.pointer), child);
			enter(&w, child);
		} else {
			buf_release(&w.levels[--w.depth].text);
		}
	}
	while (w.depth)
		buf_release(&w.levels[--w.depth].text);
	free(w.levels);
	buf_release(&w.pointer);
}
