/* Compares two values in canonical form: see diff.h. */
#include "json/diff.h"

#include "base/mem.h"
#include "json/scan.h"
#include "json/spans.h"

#include <stdlib.h>

#define MASKED "\"<masked>\"" /* written by json_canon for an ignored value */

/* One of the two values at one level. */
struct side {
	struct str container;
	size_t cursor;
	struct json_member member; /* of an object: the next member; without a value at the end */
	size_t left;               /* of an array: elements not visited yet */
	struct buf text;           /* owns a container that was held in a string */
	struct json_spans *spans;  /* of what the container is in */
	bool owns_spans;
};

struct diff_level {
	bool object;
	struct side before, after;
	size_t index;     /* index of an array's next element */
	size_t pointer_n; /* the container's pointer */
};

struct walk {
	struct diff_level *levels;
	size_t depth, room;
	struct buf pointer;
	json_difference_fn *take;
	void *ctx;
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

static void release_side(struct side *s)
{
	buf_release(&s->text);
	if (s->owns_spans) {
		json_spans_release(s->spans);
		free(s->spans);
	}
}

static void leave(struct walk *w)
{
	struct diff_level *l = &w->levels[--w->depth];

	release_side(&l->before);
	release_side(&l->after);
}

/* ---- pairs of values ---- */

/* The container itself, or the one held in a string, in canonical form; else absent. */
static struct side container_of(struct str value, struct json_spans *spans)
{
	struct side s = {.text = BUF(value.n), .spans = spans};
	enum json_type type = json_type(value);
	struct json_fault fault;

	if (type == JSON_OBJECT || type == JSON_ARRAY) {
		s.container = value;
	}
	if (!value.p || type != JSON_STRING || (value.p[1] != '{' && value.p[1] != '[')) {
		return s;
	}
	struct buf raw = BUF(value.n);
	json_decode(value, &raw);
	if (!json_validate(buf_view(&raw), &fault)) {
		s.text.max = 2 * value.n;
		json_canon(buf_view(&raw), NULL, JSON_EDIT_DROP, &s.text);
		s.container = s.text.full ? s.container : buf_view(&s.text);
		s.spans = mem_new(sizeof(*s.spans));
		s.owns_spans = true;
		json_spans_begin(s.spans, s.container);
	}
	buf_release(&raw);
	return s;
}

static bool is_masked(struct str value)
{
	return !value.p || str_eq(value, STR(MASKED));
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
	if (a.container.p && json_type(a.container) == json_type(b.container)) {
		enter(w, a, b);
		return;
	}
	release_side(&a);
	release_side(&b);
	w->stopped = !w->take(w->ctx, &d);
}

static void point_to(struct walk *w, const struct diff_level *l, struct str token)
{
	buf_cut(&w->pointer, l->pointer_n);
	buf_char(&w->pointer, '/');
	for (size_t i = 0; i < token.n; i++) {
		if (token.p[i] == '~' || token.p[i] == '/') {
			buf_text(&w->pointer, token.p[i] == '~' ? "~0" : "~1");
		} else {
			buf_char(&w->pointer, token.p[i]);
		}
	}
}

/* In the order of the canonical form. */
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
	struct buf text = BUF(2 * key.n + 8);

	if (order <= 0) {
		next_member(&l->before);
	}
	if (order >= 0) {
		next_member(&l->after);
	}
	json_decode((struct str){key.p - 1, key.n + 2}, &text);
	point_to(w, l, buf_view(&text));
	buf_release(&text);
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

static void step_array(struct walk *w, struct diff_level *l)
{
	struct buf token = BUF(BUF_MAX_SMALL);
	struct str a = next_element(&l->before), b = next_element(&l->after);

	buf_printf(&token, "%zu", l->index++);
	point_to(w, l, buf_view(&token));
	buf_release(&token);
	compare(w, a, l->before.spans, b, l->after.spans);
}

static bool at_end(const struct diff_level *l)
{
	if (l->object) {
		return !l->before.member.value.p && !l->after.member.value.p;
	}
	return !l->before.left && !l->after.left;
}

void json_diff(struct str before, struct str after, const struct json_paths *ignore,
               json_difference_fn *take, void *ctx)
{
	struct buf a = BUF(SIZE_MAX / 4), b = BUF(SIZE_MAX / 4);
	struct walk w = {.pointer = BUF(BUF_MAX_MESSAGE), .take = take, .ctx = ctx};
	struct json_spans spans[2];

	if (before.p) {
		json_canon(before, ignore, JSON_EDIT_MASK, &a);
	}
	if (after.p) {
		json_canon(after, ignore, JSON_EDIT_MASK, &b);
	}
	json_spans_begin(&spans[0], buf_view(&a));
	json_spans_begin(&spans[1], buf_view(&b));
	compare(&w, before.p ? buf_view(&a) : before, &spans[0], after.p ? buf_view(&b) : after,
	        &spans[1]);
	while (w.depth && !w.stopped) {
		struct diff_level *l = &w.levels[w.depth - 1];

		if (at_end(l)) {
			leave(&w);
		} else if (l->object) {
			step_object(&w, l);
		} else {
			step_array(&w, l);
		}
	}
	while (w.depth) {
		leave(&w);
	}
	free(w.levels);
	json_spans_release(&spans[0]);
	json_spans_release(&spans[1]);
	buf_release(&w.pointer);
	buf_release(&a);
	buf_release(&b);
}
