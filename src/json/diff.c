/* Compares two values in canonical form: see diff.h. */
#include "json/diff.h"

#include "base/mem.h"
#include "json/pattern.h"
#include "json/scan.h"
#include "json/tape.h"
#include "json/write.h"

#include <stdlib.h>

#define MASKED "\"<masked>\"" /* written by json_canon for an ignored value */

/* One of the two containers of a level. */
struct side {
	const struct json_node *at, *end; /* the next child; the end of the last one */
	/* of a container that was held in a string, or put in another order */
	struct buf text;
	struct json_tape tape;
};

struct diff_level {
	bool object;
	struct side before, after;
	size_t index;     /* index of an array's next element */
	size_t pointer_n; /* length of the container's pointer */
};

struct diff {
	struct diff_level *levels;
	size_t depth, room;
	struct buf pointer;
	json_difference_fn *take;
	void *ctx;
	const struct json_unordered *unordered; /* NULL: all arrays are ordered */
	bool stopped;
};

/* ---- levels ---- */

static bool same_values(const struct json_node *a, const struct json_node *b)
{
	return str_eq(a->value, b->value);
}

static void skip_equal_start(struct diff_level *l)
{
	struct side *a = &l->before, *b = &l->after;

	while (a->at < a->end && b->at < b->end && same_values(a->at, b->at)) {
		a->at = json_node_after(a->at);
		b->at = json_node_after(b->at);
		l->index++;
	}
}

static const struct json_node **list_children(const struct side *s, size_t *count)
{
	const struct json_node **list =
		mem_array((size_t)(s->end - s->at) + 1, sizeof(struct json_node *));

	*count = 0;
	for (const struct json_node *at = s->at; at < s->end; at = json_node_after(at))
		list[(*count)++] = at;
	return list;
}

static void skip_equal_end(struct diff_level *l)
{
	size_t n, m;
	const struct json_node **a = list_children(&l->before, &n);
	const struct json_node **b = list_children(&l->after, &m);

	while (n && m && same_values(a[n - 1], b[m - 1])) {
		l->before.end = a[--n];
		l->after.end = b[--m];
	}
	free(a);
	free(b);
}

static void release_side(struct side *s)
{
	buf_release(&s->text);
	json_tape_release(&s->tape);
}

static void leave(struct diff *w)
{
	struct diff_level *l = &w->levels[--w->depth];

	release_side(&l->before);
	release_side(&l->after);
}

/* ---- pairs of values ---- */

static void visit(struct side *s, const struct json_node *container)
{
	s->at = container + 1;
	s->end = json_node_after(container);
}

/* Makes the canonical form of this container the one that is visited. False: it is too long. */
static bool visit_own(struct side *s, struct str container)
{
	struct buf text = BUF(BUF_MAX_MESSAGE);

	json_canon(container, NULL, JSON_EDIT_DROP, &text);
	if (text.full) {
		buf_release(&text);
		return false;
	}
	release_side(s);
	s->text = text;
	json_tape_read(&s->tape, buf_view(&s->text));
	visit(s, s->tape.nodes);
	return true;
}

static bool may_hold(const struct json_node *node)
{
	enum json_type type = node ? json_type(node->value) : JSON_ABSENT;

	return type == JSON_OBJECT || type == JSON_ARRAY ||
	       (type == JSON_STRING && (node->value.p[1] == '{' || node->value.p[1] == '['));
}

/* Begins with the children of the container, or of the one held in a string. Returns its type;
   absent: there is none. */
static enum json_type begin_side(struct side *s, const struct json_node *node)
{
	struct buf text = BUF(0);
	enum json_type type = json_type(node->value);

	*s = (struct side){.text = text};
	if (type != JSON_STRING) {
		visit(s, node);
		return type;
	}
	struct str held = json_held(node->value, &text);
	type = held.p && visit_own(s, held) ? json_type(held) : JSON_ABSENT;
	buf_release(&text);
	return type;
}

static bool is_masked(struct str value)
{
	return !value.p || str_eq(value, STR(MASKED));
}

/* The name by which an element of an unordered array is matched. */
static void put_name(struct str element, struct str key, struct buf *out)
{
	struct str named =
		key.n && json_type(element) == JSON_OBJECT ? json_get(element, key) : STR_NONE;

	buf_clear(out);
	json_text_or_json(named.p ? named : element, out);
}

/* Converts an unordered array to an object, in which names may repeat. */
static void read_unordered(struct side *s, struct str key)
{
	struct buf name = BUF(BUF_MAX_MESSAGE), object = BUF(BUF_MAX_MESSAGE);
	struct json_writer w;

	jw_init(&w, &object);
	jw_object(&w);
	for (const struct json_node *at = s->at; at < s->end; at = json_node_after(at)) {
		put_name(at->value, key, &name);
		jw_key_str(&w, buf_view(&name));
		jw_raw(&w, at->value);
	}
	jw_end(&w);
	if (!object.full && !name.full)
		(void)visit_own(s, buf_view(&object));
	buf_release(&name);
	buf_release(&object);
}

/* Enters two containers of one type. False: there are none. */
static bool enter(struct diff *w, const struct json_node *before, const struct json_node *after)
{
	struct str key;

	if (!may_hold(before) || !may_hold(after))
		return false;
	if (w->depth == w->room) {
		w->room = w->room ? 2 * w->room : 16;
		w->levels = mem_resize(w->levels, w->room, sizeof(*w->levels));
	}
	struct diff_level *l = &w->levels[w->depth++];
	enum json_type a = begin_side(&l->before, before), b = begin_side(&l->after, after);
	l->object = a == JSON_OBJECT;
	l->index = 0;
	l->pointer_n = w->pointer.n;
	if (a != b || a == JSON_ABSENT) {
		leave(w);
		return false;
	}
	if (a == JSON_ARRAY && w->unordered &&
	    w->unordered->is(w->unordered->ctx, buf_view(&w->pointer), &key)) {
		read_unordered(&l->before, key);
		read_unordered(&l->after, key);
		l->object = true;
	} else if (a == JSON_ARRAY && l->before.at[-1].count != l->after.at[-1].count) {
		skip_equal_start(l);
		skip_equal_end(l);
	}
	return true;
}

/* Compares the values at w->pointer; NULL: absent. */
static void compare(struct diff *w, const struct json_node *before, const struct json_node *after)
{
	struct json_difference d = {buf_view(&w->pointer), before ? before->value : STR_NONE,
	                            after ? after->value : STR_NONE};

	if (!(is_masked(d.before) && is_masked(d.after)) && !enter(w, before, after))
		w->stopped = !w->take(w->ctx, &d);
}

/* The key order of the canonical form. */
static int compare_keys(struct str a, struct str b)
{
	struct buf one = BUF(2 * a.n + 8), two = BUF(2 * b.n + 8);
	int order;

	if (!memchr(a.p, '\\', a.n) && !memchr(b.p, '\\', b.n))
		return str_order(a, b);
	json_decode_key(a, &one);
	json_decode_key(b, &two);
	order = str_order(buf_view(&one), buf_view(&two));
	buf_release(&one);
	buf_release(&two);
	return order;
}

static const struct json_node *next_child(struct side *s)
{
	const struct json_node *child = s->at;

	s->at = json_node_after(child);
	return child;
}

static void put_index(struct buf *pointer, size_t index)
{
	char digits[24];
	size_t at = sizeof(digits);

	do {
		digits[--at] = (char)('0' + index % 10);
		index /= 10;
	} while (index);
	digits[--at] = '/';
	buf_add(pointer, digits + at, sizeof(digits) - at);
}

/* Compares the next children, which have one name or one index. */
static void step(struct diff *w, struct diff_level *l)
{
	struct side *a = &l->before, *b = &l->after;
	int order = a->at == a->end   ? 1
	            : b->at == b->end ? -1
	            : l->object       ? compare_keys(a->at->key, b->at->key)
	                              : 0;
	const struct json_node *before = order <= 0 ? next_child(a) : NULL;
	const struct json_node *after = order >= 0 ? next_child(b) : NULL;
	size_t index = l->index++;

	if (before && after && same_values(before, after))
		return;
	buf_cut(&w->pointer, l->pointer_n);
	if (l->object)
		json_pointer_add_key(&w->pointer, before ? before->key : after->key);
	else
		put_index(&w->pointer, index);
	compare(w, before, after);
}

/* Both values are in canonical form, or absent. */
static void run(struct diff *w, struct str before, struct str after)
{
	struct json_tape a = {.count = 0}, b = {.count = 0};

	if (str_eq(before, after))
		return;
	w->pointer = BUF(BUF_MAX_MESSAGE);
	json_tape_read(&a, before);
	json_tape_read(&b, after);
	compare(w, a.nodes, b.nodes);
	while (w->depth && !w->stopped) {
		struct diff_level *l = &w->levels[w->depth - 1];

		if (l->before.at == l->before.end && l->after.at == l->after.end)
			leave(w);
		else
			step(w, l);
	}
	while (w->depth)
		leave(w);
	free(w->levels);
	json_tape_release(&a);
	json_tape_release(&b);
	buf_release(&w->pointer);
}

static struct str canonical(struct str value, const struct json_paths *ignore, struct buf *out)
{
	if (!value.p)
		return value;
	json_canon(value, ignore, JSON_EDIT_MASK, out);
	return buf_view(out);
}

void json_diff(struct str before, struct str after, const struct json_paths *ignore,
               json_difference_fn *take, void *ctx)
{
	struct buf a = BUF(SIZE_MAX / 4), b = BUF(SIZE_MAX / 4);
	struct diff w = {.take = take, .ctx = ctx};

	run(&w, canonical(before, ignore, &a), canonical(after, ignore, &b));
	buf_release(&a);
	buf_release(&b);
}

void json_diff_unordered(struct str before, struct str after, const struct json_unordered *how,
                         json_difference_fn *take)
{
	struct buf a = BUF(SIZE_MAX / 4), b = BUF(SIZE_MAX / 4);
	struct diff w = {.take = take, .ctx = how->ctx, .unordered = how};

	run(&w, canonical(before, NULL, &a), canonical(after, NULL, &b));
	buf_release(&a);
	buf_release(&b);
}
