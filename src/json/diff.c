/* Compares two values in canonical form: see diff.h. */
#include "json/diff.h"

#include "base/mem.h"
#include "json/held.h"
#include "json/pattern.h"
#include "json/spans.h"
#include "json/write.h"

#include <stdlib.h>

#define MASKED "\"<masked>\"" /* written by json_canon for an ignored value */

/* One of the two values, at one level. */
struct side {
	struct str container;
	size_t cursor;
	/* of an object: the next member; its value is absent at the end */
	struct json_member member;
	size_t left;              /* of an array: elements not visited yet */
	struct buf text;          /* owns a container that was held in a string */
	struct json_spans *spans; /* of the text that holds the container */
	bool owns_spans;
};

struct diff_level {
	bool object;
	struct side before, after;
	size_t index;     /* index of an array's next element */
	size_t pointer_n; /* length of the container's pointer */
};

struct walk {
	struct diff_level *levels;
	size_t depth, room;
	struct buf pointer;
	json_difference_fn *take;
	void *ctx;
	const struct json_unordered *unordered; /* NULL: all arrays are ordered */
	bool stopped;
};

/* ---- levels ---- */

static void next_member(struct side *s)
{
	if (!json_spans_next_member(s->spans, s->container, &s->cursor, &s->member)) {
		s->member.value = STR_NONE;
	}
}

static void skip_equal_start(struct diff_level *l)
{
	struct str a, b;

	while (l->before.left && l->after.left) {
		size_t at_before = l->before.cursor, at_after = l->after.cursor;

		json_spans_next(l->before.spans, l->before.container, &at_before, &a);
		json_spans_next(l->after.spans, l->after.container, &at_after, &b);
		if (!str_eq(a, b)) {
			return;
		}
		l->before.cursor = at_before;
		l->after.cursor = at_after;
		l->before.left--;
		l->after.left--;
		l->index++;
	}
}

static struct str *list_elements(const struct side *s)
{
	struct str *list = mem_array(s->left + 1, sizeof(*list));
	size_t cursor = s->cursor;

	for (size_t i = 0; i < s->left; i++) {
		json_spans_next(s->spans, s->container, &cursor, &list[i]);
	}
	return list;
}

static void skip_equal_end(struct diff_level *l)
{
	struct str *a = list_elements(&l->before), *b = list_elements(&l->after);

	while (l->before.left && l->after.left &&
	       str_eq(a[l->before.left - 1], b[l->after.left - 1])) {
		l->before.left--;
		l->after.left--;
	}
	free(a);
	free(b);
}

static void enter(struct walk *w, struct side before, struct side after)
{
	if (w->depth == w->room) {
		w->room = w->room ? 2 * w->room : 16;
		w->levels = mem_resize(w->levels, w->room, sizeof(*w->levels));
	}
	struct diff_level *l = &w->levels[w->depth++];
	*l = (struct diff_level){.object = json_type(before.container) == JSON_OBJECT,
	                         .before = before,
	                         .after = after,
	                         .pointer_n = w->pointer.n};
	if (l->object) {
		next_member(&l->before);
		next_member(&l->after);
		return;
	}
	l->before.left = json_spans_count(before.spans, before.container);
	l->after.left = json_spans_count(after.spans, after.container);
	if (l->before.left != l->after.left) {
		skip_equal_start(l);
		skip_equal_end(l);
	}
}

static void release_spans(struct side *s)
{
	if (s->owns_spans) {
		json_spans_release(s->spans);
		free(s->spans);
	}
}

static void release_side(struct side *s)
{
	buf_release(&s->text);
	release_spans(s);
}

static void leave(struct walk *w)
{
	struct diff_level *l = &w->levels[--w->depth];

	release_side(&l->before);
	release_side(&l->after);
}

/* ---- pairs of values ---- */

/* Computes spans of the side's own text, which is the container. */
static void own_spans(struct side *s)
{
	release_spans(s);
	s->spans = mem_new(sizeof(*s->spans));
	s->owns_spans = true;
	json_spans_begin(s->spans, s->container);
}

/* The container itself, or the one held in a string, in canonical form; absent if there is none. */
static struct side container_of(struct str value, struct json_spans *spans)
{
	struct side s = {.text = BUF(2 * value.n), .spans = spans};
	struct buf raw = BUF(0);

	s.container = json_held(value, &raw);
	if (raw.n && s.container.p) {
		json_canon(s.container, NULL, JSON_EDIT_DROP, &s.text);
		s.container = s.text.full ? STR_NONE : buf_view(&s.text);
		own_spans(&s);
	}
	buf_release(&raw);
	return s;
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
	struct buf name = BUF(BUF_MAX_MESSAGE), object = BUF(BUF_MAX_MESSAGE),
		   sorted = BUF(BUF_MAX_MESSAGE);
	struct json_writer w;
	struct str element;

	jw_init(&w, &object);
	jw_object(&w);
	for (size_t cursor = 0; json_next(s->container, &cursor, &element);) {
		put_name(element, key, &name);
		jw_raw(jw_key_str(&w, buf_view(&name)), element);
	}
	jw_end(&w);
	if (!object.full && !name.full) {
		json_canon(buf_view(&object), NULL, JSON_EDIT_DROP, &sorted);
		buf_release(&s->text);
		s->text = sorted;
		s->container = buf_view(&s->text);
		own_spans(s);
	}
	buf_release(&name);
	buf_release(&object);
}

static bool is_unordered(const struct walk *w, struct str *key)
{
	return w->unordered && w->unordered->is(w->unordered->ctx, buf_view(&w->pointer), key);
}

/* Compares the values at w->pointer. */
static void compare(struct walk *w, struct str before, struct json_spans *spans_before,
                    struct str after, struct json_spans *spans_after)
{
	struct json_difference d = {buf_view(&w->pointer), before, after};

	if (str_eq(before, after) || (is_masked(before) && is_masked(after))) {
		return;
	}
	struct side a = container_of(before, spans_before), b = container_of(after, spans_after);
	struct str key;

	if (json_type(a.container) == JSON_ARRAY && json_type(b.container) == JSON_ARRAY &&
	    is_unordered(w, &key)) {
		read_unordered(&a, key);
		read_unordered(&b, key);
	}
	if (a.container.p && json_type(a.container) == json_type(b.container)) {
		enter(w, a, b);
		return;
	}
	release_side(&a);
	release_side(&b);
	w->stopped = !w->take(w->ctx, &d);
}

/* The key order of the canonical form. */
static int compare_keys(struct str a, struct str b)
{
	struct buf one = BUF(2 * a.n + 8), two = BUF(2 * b.n + 8);
	int order;

	if (!memchr(a.p, '\\', a.n) && !memchr(b.p, '\\', b.n)) {
		return str_order(a, b);
	}
	json_decode((struct str){a.p - 1, a.n + 2}, &one);
	json_decode((struct str){b.p - 1, b.n + 2}, &two);
	order = str_order(buf_view(&one), buf_view(&two));
	buf_release(&one);
	buf_release(&two);
	return order;
}

static void step_object(struct walk *w, struct diff_level *l)
{
	struct json_member a = l->before.member, b = l->after.member;
	int order = !b.value.p ? -1 : !a.value.p ? 1 : compare_keys(a.key, b.key);
	struct str key = order <= 0 ? a.key : b.key;

	if (order <= 0) {
		next_member(&l->before);
	}
	if (order >= 0) {
		next_member(&l->after);
	}
	buf_cut(&w->pointer, l->pointer_n);
	json_pointer_add_key(&w->pointer, key);
	compare(w, order <= 0 ? a.value : STR_NONE, l->before.spans,
	        order >= 0 ? b.value : STR_NONE, l->after.spans);
}

static struct str next_element(struct side *s)
{
	struct str element = STR_NONE;

	if (s->left) {
		s->left--;
		json_spans_next(s->spans, s->container, &s->cursor, &element);
	}
	return element;
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

static void step_array(struct walk *w, struct diff_level *l)
{
	struct str a = next_element(&l->before), b = next_element(&l->after);

	buf_cut(&w->pointer, l->pointer_n);
	put_index(&w->pointer, l->index++);
	compare(w, a, l->before.spans, b, l->after.spans);
}

static bool at_end(const struct diff_level *l)
{
	if (l->object) {
		return !l->before.member.value.p && !l->after.member.value.p;
	}
	return !l->before.left && !l->after.left;
}

/* Both values are in canonical form. */
static void run(struct walk *w, struct str before, struct str after)
{
	struct json_spans spans[2];

	w->pointer = BUF(BUF_MAX_MESSAGE);
	json_spans_begin(&spans[0], before);
	json_spans_begin(&spans[1], after);
	compare(w, before, &spans[0], after, &spans[1]);
	while (w->depth && !w->stopped) {
		struct diff_level *l = &w->levels[w->depth - 1];

		if (at_end(l)) {
			leave(w);
		} else if (l->object) {
			step_object(w, l);
		} else {
			step_array(w, l);
		}
	}
	while (w->depth) {
		leave(w);
	}
	free(w->levels);
	json_spans_release(&spans[0]);
	json_spans_release(&spans[1]);
	buf_release(&w->pointer);
}

static struct str canonical(struct str value, const struct json_paths *ignore, struct buf *out)
{
	if (!value.p) {
		return value;
	}
	json_canon(value, ignore, JSON_EDIT_MASK, out);
	return buf_view(out);
}

void json_diff(struct str before, struct str after, const struct json_paths *ignore,
               json_difference_fn *take, void *ctx)
{
	struct buf a = BUF(SIZE_MAX / 4), b = BUF(SIZE_MAX / 4);
	struct walk w = {.take = take, .ctx = ctx};

	run(&w, canonical(before, ignore, &a), canonical(after, ignore, &b));
	buf_release(&a);
	buf_release(&b);
}

void json_diff_unordered(struct str before, struct str after, const struct json_unordered *how,
                         json_difference_fn *take)
{
	struct buf a = BUF(SIZE_MAX / 4), b = BUF(SIZE_MAX / 4);
	struct walk w = {.take = take, .ctx = how->ctx, .unordered = how};

	run(&w, canonical(before, NULL, &a), canonical(after, NULL, &b));
	buf_release(&a);
	buf_release(&b);
}
