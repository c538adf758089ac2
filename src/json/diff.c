/* Compares two values in canonical form: see diff.h. */
#include "json/diff.h"

#include "base/mem.h"
#include "json/canon.h"
#include "json/lex.h"
#include "json/paths.h"
#include "json/scan.h"
#include "json/write.h"

#include <stdlib.h>

#define MASKED "\"<masked>\"" /* written by json_canon for an ignored value */

struct json_node {
	struct str key; /* of a member, as spelled, without its quotes */
	struct str value;
	uint32_t count; /* number of its elements or members */
	uint32_t size;  /* number of nodes: its own and all within it, which follow it */
};

/* One of the two containers of a level. */
struct side {
	const struct json_node *at, *end; /* the next child; the end of the last one */
	/* of a container that was held in a string, or put in another order */
	struct json_form own;
};

struct diff_level {
	bool object;
	struct side before, after;
	size_t index;     /* index of an array's next element */
	size_t pointer_n; /* length of the container's pointer */
};

struct diff {
	struct diff_level *levels;
	size_t depth;
	struct buf pointer;
	json_difference_fn *take;
	void *ctx;
	const struct json_unordered *unordered; /* NULL: all arrays are ordered */
	bool stopped;
};

/* ---- forms ---- */

/* The node after a value and all within it: its next sibling, if there is one. */
static const struct json_node *node_after(const struct json_node *node)
{
	return node + node->size;
}

static struct json_node *add_node(struct json_form *f, struct str key, const unsigned char *begin)
{
	f->nodes = mem_grow(f->nodes, f->count, sizeof(*f->nodes));
	struct json_node *node = &f->nodes[f->count++];
	*node = (struct json_node){.key = key, .value.p = (const char *)begin, .size = 1};
	return node;
}

/* Lists all values within a canonical value in the order of the text. */
static void list_values(struct json_form *f)
{
	const unsigned char *p = lex_begin(buf_view(&f->text)), *end = p + f->text.n;
	size_t open[JSON_DEPTH_MAX + JSON_DEPTH_AROUND], depth = 0;
	bool in_object = false;

	for (f->count = 0; p < end; p++) { /* p is at a value, and at the end after it */
		struct str key = STR_NONE;

		if (in_object) {
			const unsigned char *after = lex_string(p, end);

			key = lex_slice(p + 1, after - 1);
			p = after + 1;
		}
		struct json_node *node = add_node(f, key, p);
		if (depth)
			f->nodes[open[depth - 1]].count++;
		if (*p == '{' || *p == '[') {
			in_object = *p == '{';
			open[depth++] = f->count - 1;
			if (p[1] != ']' && p[1] != '}')
				continue;
			p++;
		} else {
			p = lex_value(p, end);
			node->value.n = (size_t)((const char *)p - node->value.p);
		}
		for (; depth && p < end && (*p == ']' || *p == '}'); p++) {
			node = &f->nodes[open[--depth]];
			node->value.n = (size_t)((const char *)p + 1 - node->value.p);
			node->size = (uint32_t)(f->count - open[depth]);
		}
		in_object = depth && f->nodes[open[depth - 1]].value.p[0] == '{';
	}
}

void json_form_read(struct json_form *f, struct str value, const struct json_paths *ignore)
{
	f->text.max = SIZE_MAX / 4;
	buf_clear(&f->text);
	if (value.p)
		json_canon(value, ignore, JSON_EDIT_MASK, &f->text);
	list_values(f);
}

void json_form_release(struct json_form *f)
{
	buf_release(&f->text);
	free(f->nodes);
	*f = (struct json_form){.count = 0};
}

/* ---- levels ---- */

static bool same_values(const struct json_node *a, const struct json_node *b)
{
	return str_eq(a->value, b->value);
}

static void skip_equal_start(struct diff_level *l)
{
	struct side *a = &l->before, *b = &l->after;

	while (a->at < a->end && b->at < b->end && same_values(a->at, b->at)) {
		a->at = node_after(a->at);
		b->at = node_after(b->at);
		l->index++;
	}
}

static const struct json_node **list_children(const struct side *s, size_t *count)
{
	const struct json_node **list =
		mem_array((size_t)(s->end - s->at) + 1, sizeof(struct json_node *));

	*count = 0;
	for (const struct json_node *at = s->at; at < s->end; at = node_after(at))
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

static void leave(struct diff *w)
{
	struct diff_level *l = &w->levels[--w->depth];

	json_form_release(&l->before.own);
	json_form_release(&l->after.own);
}

/* ---- pairs of values ---- */

static void visit(struct side *s, const struct json_node *container)
{
	s->at = container + 1;
	s->end = node_after(container);
}

/* Makes the canonical form of this container the one that is visited. False: it is too long. */
static bool visit_own(struct side *s, struct str container)
{
	struct json_form own = {.text = BUF(BUF_MAX_MESSAGE)};

	json_canon(container, NULL, JSON_EDIT_DROP, &own.text);
	if (own.text.full) {
		buf_release(&own.text);
		return false;
	}
	list_values(&own);
	json_form_release(&s->own);
	s->own = own;
	visit(s, s->own.nodes);
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
	AUTO_BUF text = BUF(0);
	enum json_type type = json_type(node->value);

	*s = (struct side){.at = NULL};
	if (type != JSON_STRING) {
		visit(s, node);
		return type;
	}
	struct str held = json_held(node->value, &text);
	return held.p && visit_own(s, held) ? json_type(held) : JSON_ABSENT;
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
	AUTO_BUF name = BUF(BUF_MAX_MESSAGE), object = BUF(BUF_MAX_MESSAGE);

	struct json_writer w = jw_begin(&object);
	for (const struct json_node *at = s->at; at < s->end; at = node_after(at)) {
		put_name(at->value, key, &name);
		jw_key_str(&w, buf_view(&name));
		jw_raw(&w, at->value);
	}
	jw_end(&w);
	if (!object.full && !name.full)
		(void)visit_own(s, buf_view(&object));
}

/* Enters two containers of one type. False: there are none. */
static bool enter(struct diff *w, const struct json_node *before, const struct json_node *after)
{
	struct str key;

	if (!may_hold(before) || !may_hold(after))
		return false;
	w->levels = mem_grow(w->levels, w->depth, sizeof(*w->levels));
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
	AUTO_BUF one = BUF(2 * a.n + 8), two = BUF(2 * b.n + 8);

	if (!memchr(a.p, '\\', a.n) && !memchr(b.p, '\\', b.n))
		return str_order(a, b);
	json_decode_key(a, &one);
	json_decode_key(b, &two);
	return str_order(buf_view(&one), buf_view(&two));
}

static const struct json_node *next_child(struct side *s)
{
	const struct json_node *child = s->at;

	s->at = node_after(child);
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
	            : !l->object || str_eq(a->at->key, b->at->key)
	                    ? 0
	                    : compare_keys(a->at->key, b->at->key);
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

static void run(struct diff *w, const struct json_form *before, const struct json_form *after)
{
	if (str_eq(buf_view(&before->text), buf_view(&after->text)))
		return;
	w->pointer = BUF(BUF_MAX_MESSAGE);
	compare(w, before->count ? before->nodes : NULL, after->count ? after->nodes : NULL);
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
	buf_release(&w->pointer);
}

static void run_values(struct diff *w, struct str before, struct str after,
                       const struct json_paths *ignore)
{
	struct json_form a = {.count = 0}, b = {.count = 0};

	if (str_eq(before, after))
		return;
	json_form_read(&a, before, ignore);
	json_form_read(&b, after, ignore);
	run(w, &a, &b);
	json_form_release(&a);
	json_form_release(&b);
}

void json_diff_forms(const struct json_form *before, const struct json_form *after,
                     json_difference_fn *take, void *ctx)
{
	struct diff w = {.take = take, .ctx = ctx};

	run(&w, before, after);
}

void json_diff(struct str before, struct str after, const struct json_paths *ignore,
               json_difference_fn *take, void *ctx)
{
	struct diff w = {.take = take, .ctx = ctx};

	run_values(&w, before, after, ignore);
}

void json_diff_unordered(struct str before, struct str after, const struct json_unordered *how,
                         json_difference_fn *take)
{
	struct diff w = {.take = take, .ctx = how->ctx, .unordered = how};

	run_values(&w, before, after, NULL);
}

/* ---- equality, hashes, and values on one line ---- */

bool json_equal(struct str a, struct str b)
{
	AUTO_BUF one = BUF(BUF_MAX_MESSAGE), other = BUF(BUF_MAX_MESSAGE);

	if (json_type(a) != json_type(b) || str_eq(a, b))
		return json_type(a) == json_type(b);
	json_canon(a, NULL, JSON_EDIT_DROP, &one);
	json_canon(b, NULL, JSON_EDIT_DROP, &other);
	return str_eq(buf_view(&one), buf_view(&other));
}

/* Line breaks in strings are always escaped, so any raw one is outside strings. */
void json_minify(struct str value, struct buf *out)
{
	while (value.n > 0) {
		struct str line = str_cut(&value, '\n');

		while (line.n > 0)
			buf_str(out, str_cut(&line, '\r'));
	}
}

void json_hash(struct str value, const struct json_paths *ignore, struct buf *scratch,
               char out[HASH_HEX + 1])
{
	buf_clear(scratch);
	json_canon(value, ignore, JSON_EDIT_DROP, scratch);
	hash_hex(buf_view(scratch), out);
}
