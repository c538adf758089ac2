/* MiniMax M3: parameters are nested elements, each tag preceded by a mark M: M<invoke
   name="NAME">M<key>textM</key>M<list>M<item>1M</item>M</list>M</invoke>. The schema determines
   whether an element is an object or an array. Two passes without recursion: from text to a
   table of elements, and from the table to JSON, innermost elements first. */
#include "policy/toolformats/reader_internal.h"

#include "base/text.h"
#include "json/write.h"

#define NAMESPACE    "]<]minimax[>["
#define ELEMENTS_MAX 4096
#define DEPTH_MAX    64
#define TEXT_BETWEEN "unexpected text between its parameters"

struct element {
	struct str name, text; /* text: of an element without children */
	size_t parent, depth, children;
	struct str schema, json;
};

struct tree {
	struct finder *f;
	struct str root;
	struct element *all; /* 0 is the call itself */
	size_t count, room;
	const char *why;
};

/* ---- first pass: the elements ---- */

static struct str child_schema(const struct tree *t, struct str schema, struct str name)
{
	struct str found = typed_property(t->root, schema, name);
	struct str items = JSON_GET(schema, "items"), each;
	struct str list =
		JSON_GET(schema, "anyOf").p ? JSON_GET(schema, "anyOf") : JSON_GET(schema, "oneOf");

	for (size_t cursor = 0; !items.p && json_next(list, &cursor, &each);)
		items = JSON_GET(each, "items");
	return found.p ? found : items;
}

/* An upper bound: each element has a mark at its start and one at its end. */
static size_t elements_in(struct finder *f, struct str s)
{
	size_t count = 2;
	struct str before;

	while (count < ELEMENTS_MAX && cut_at(f, s, NAMESPACE, &before, &s))
		count++;
	return count;
}

static size_t open_element(struct tree *t, size_t parent, struct str name)
{
	if (t->count == t->room) {
		t->why = "it has too many parameters";
		return parent;
	}
	if (t->all[parent].depth == DEPTH_MAX) {
		t->why = "it is nested too deeply";
		return parent;
	}
	t->all[parent].children++;
	t->all[t->count] = (struct element){
		.name = name,
		.parent = parent,
		.depth = t->all[parent].depth + 1,
		.schema = child_schema(t, t->all[parent].schema, name),
	};
	return t->count++;
}

/* Reads the tag after a namespace mark: its name without the bracket. */
static bool read_tag(struct finder *f, struct str *s, struct str *tag)
{
	*s = skip_whitespace(*s);
	if (!s->n || s->p[0] != '<')
		return false;
	*s = str_skip(*s, 1);
	return cut_at(f, *s, ">", tag, s);
}

/* Closes an element </name>; returns its parent. */
static size_t close_element(struct tree *t, size_t at, struct str name, struct str text)
{
	if (at == 0 || !str_eq(name, t->all[at].name)) {
		t->why = "a parameter has no end tag";
		return at;
	}
	if (t->all[at].children && text_trim(text).n)
		t->why = TEXT_BETWEEN;
	t->all[at].text = t->all[at].children ? STR_NONE : text;
	return t->all[at].parent;
}

/* Reads everything up to the end of the call. False: the text ends before it. */
static bool read_elements(struct tree *t, struct str *s)
{
	struct str text, tag;
	size_t at = 0;

	while (!t->why && cut_at(t->f, *s, NAMESPACE, &text, s)) {
		/* the tokenizer may double the bracket */
		text.n -= text.n && at == 0 && text.p[text.n - 1] == ']';
		if (!read_tag(t->f, s, &tag))
			return false;
		bool closes = tag.n && tag.p[0] == '/';
		if (text_trim(text).n && (at == 0 || !closes))
			t->why = TEXT_BETWEEN;
		else if (at == 0 && str_is(tag, "/invoke"))
			return true;
		else if (closes)
			at = close_element(t, at, str_skip(tag, 1), text);
		else
			at = open_element(t, at, tag);
	}
	return t->why != NULL;
}

/* ---- second pass: JSON, innermost first ---- */

static bool is_list(const struct tree *t, size_t at)
{
	unsigned types = schema_types(t->root, t->all[at].schema);

	if (types & TYPE_ARRAY)
		return true;
	if (types & TYPE_OBJECT || at == 0)
		return false;
	for (size_t i = at + 1; i < t->count; i++)
		if (t->all[i].parent == at && !str_is(t->all[i].name, "item"))
			return false;
	return true;
}

/* Writes the children of that name, starting with the one at `from`: an array if there are
   several. */
static void put_named(const struct tree *t, size_t from, struct buf *out)
{
	size_t count = 0;
	struct buf values = BUF(FOUND_TEXT_MAX);

	for (size_t i = from; i < t->count; i++) {
		if (t->all[i].parent == t->all[from].parent &&
		    str_eq(t->all[i].name, t->all[from].name)) {
			buf_text(&values, count++ ? "," : "");
			buf_str(&values, t->all[i].json);
		}
	}
	buf_text(out, count > 1 ? "[" : "");
	buf_str(out, buf_view(&values));
	buf_text(out, count > 1 ? "]" : "");
	buf_release(&values);
}

static bool is_first_of_name(const struct tree *t, size_t at)
{
	for (size_t i = t->all[at].parent + 1; i < at; i++) {
		if (t->all[i].parent == t->all[at].parent &&
		    str_eq(t->all[i].name, t->all[at].name)) {
			return false;
		}
	}
	return true;
}

static void put_container(const struct tree *t, size_t at, struct buf *out)
{
	bool list = is_list(t, at);
	size_t start = out->n + 1;

	buf_char(out, list ? '[' : '{');
	for (size_t i = at + 1; i < t->count; i++) {
		if (t->all[i].parent != at || (!list && !is_first_of_name(t, i)))
			continue;
		buf_text(out, out->n > start ? "," : "");
		if (list) {
			buf_str(out, t->all[i].json);
		} else {
			json_quote(out, t->all[i].name);
			buf_char(out, ':');
			put_named(t, i, out);
		}
	}
	buf_char(out, list ? ']' : '}');
}

static void settle_element(struct tree *t, size_t at)
{
	struct element *e = &t->all[at];
	unsigned types = schema_types(t->root, e->schema);
	struct buf out = BUF(FOUND_TEXT_MAX);

	if (e->children || at == 0) {
		put_container(t, at, &out);
	} else if (!text_trim(e->text).n && (types & (TYPE_ARRAY | TYPE_OBJECT)) &&
	           !(types & TYPE_STRING)) {
		buf_text(&out, types & TYPE_ARRAY ? "[]" : "{}");
	} else {
		typed_value(t->f, t->root, e->schema, e->text, HINT_NONE, &out);
	}
	e->json = buf_keep(&out, t->f->arena);
}

void grammar_elements(struct finder *f, const struct tool_format *row, struct str *before,
                      struct str *rest)
{
	struct str s = *rest, tag, name, source = *rest;
	struct tree t = {.f = f};
	size_t first = f->count;
	struct typed typed;

	(void)before;
	if (!cut_at(f, s, ">", &tag, &s) || !cut_at(f, tag, "=", &name, &name))
		return; /* no name: the mark is ordinary text */
	name = text_trim(name);
	name = name.n > 1 && strchr("\"'", name.p[0]) ? (struct str){name.p + 1, name.n - 2} : name;
	typed_begin(f, name, &typed);
	buf_release(&typed.object);
	t.root = typed.root;
	t.room = elements_in(f, (struct str){s.p, call_end(f, row, s)});
	t.all = arena_new(f->arena, t.room * sizeof(*t.all));
	t.all[t.count++].schema = t.root;
	if (!read_elements(&t, &s)) {
		found_cut(f, name, *rest);
		s = str_skip(s, s.n);
	} else if (t.why) {
		source.n = call_end(f, row, source);
		found_bad(f, name, source, t.why);
		s = str_skip(*rest, source.n);
	} else {
		for (size_t i = t.count; i-- > 0;)
			settle_element(&t, i);
		found_add(f, (struct found_call){.name = name, .arguments = t.all[0].json});
	}
	leave_call(f, row, first, &s);
	*rest = s;
}
