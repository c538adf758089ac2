/* Calls whose values are nested, in one pass with a stack of open containers: Gemma's
   call:NAME{key:value,key:{..},key:[..]}, with strings between quote marks, and MiniMax M3's elements,
   each tag after a mark M: M<invoke name="NAME">M<key>textM</key>M<list>M<item>1M</item>M</list>M</invoke>.
   Other values are typed by the schema, which also determines whether an element is an object or an array. */
#include "policy/toolformats/reader_internal.h"

#include "base/text.h"
#include "json/write.h"

#define NAMESPACE    "]<]minimax[>["
#define DEPTH_MAX    64
#define TEXT_BETWEEN "unexpected text between its parameters"
#define NO_PAIRS     "it does not consist of keys and values"

struct open_value {
	bool list, any; /* any: it has a member */
	char end;       /* of pairs: its closing bracket */
	struct str schema, name;
	/* Of elements: the last member, where its value is in `out`, and whether that is an array because
	   the member is repeated. */
	struct str last;
	size_t at;
	bool many;
	uint64_t serial;
};

struct nested_call {
	struct finder *f;
	const char *quote;
	struct str root, s; /* the tool's schema; the rest of the text */
	struct buf out;
	struct open_value open[DEPTH_MAX];
	size_t depth;
	struct map keys; /* of objects that are elements, by name and serial number */
	uint64_t serial;
	const char *why;
};

static struct open_value *top(struct nested_call *n)
{
	return &n->open[n->depth - 1];
}

static void open_container(struct nested_call *n, const struct open_value *c)
{
	if (n->depth == DEPTH_MAX) {
		n->why = "it is nested too deeply";
		return;
	}
	n->open[n->depth++] = *c;
	top(n)->serial = n->serial++;
	buf_char(&n->out, c->list ? '[' : '{');
}

static void close_container(struct nested_call *n)
{
	buf_char(&n->out, n->open[--n->depth].list ? ']' : '}');
}

/* Adds the call that was read; read: up to its end. */
static void add_call(struct nested_call *n, const struct tool_format *row, struct str name,
                     bool read, struct str *rest)
{
	struct str source = {rest->p, call_end(n->f, row, *rest)}, s = str_skip(*rest, source.n);
	size_t first = n->f->count;

	if (!read) {
		found_cut(n->f, name, *rest);
		s = str_skip(*rest, rest->n);
	} else if (n->why) {
		found_bad(n->f, name, source, n->why);
	} else {
		struct str object = n->out.n ? arena_str(n->f->arena, buf_view(&n->out)) : STR_NONE;

		found_add(n->f, (struct found_call){.name = name, .arguments = object});
		s = n->s;
	}
	buf_release(&n->out);
	leave_call(n->f, row, first, &s);
	*rest = s;
}

/* ---- keys and values ---- */

static bool read_string(struct nested_call *n, struct str *text)
{
	struct str before;

	return cut_at(n->f, n->s, n->quote, &before, &n->s) &&
	       cut_at(n->f, n->s, n->quote, text, &n->s);
}

/* False: the text ends inside the key. */
static bool read_key(struct nested_call *n, struct str *key)
{
	if (str_starts(n->s, str_from(n->quote))) {
		if (!read_string(n, key))
			return false;
		n->s = skip_whitespace(n->s);
	} else {
		*key = leading_name(n->s);
		key->n = mark_at(n->f, *key, ":");
		n->s = str_skip(n->s, key->n);
		if (key->n > 1 && n->s.n && n->s.p[0] != ':')
			n->why = NO_PAIRS;
	}
	if (n->s.n && (n->s.p[0] != ':' || !key->n))
		n->why = NO_PAIRS;
	bool there = n->s.n > 0;
	n->s = skip_whitespace(str_skip(n->s, 1));
	return there;
}

/* A number, a boolean or null: up to a comma or bracket. */
static bool read_bare_value(struct nested_call *n, struct str schema)
{
	size_t length = 0, at = n->out.n;
	unsigned types = schema_types(n->root, schema);

	while (length < n->s.n && !strchr(",]})", n->s.p[length]))
		length++;
	struct str text = text_trim((struct str){n->s.p, length});
	if (!text.n)
		n->why = "a value is missing";
	else if (mark_at(NULL, text, n->quote) < text.n)
		n->why = "a quote mark of a string is missing";
	typed_value(n->f, n->root, schema, text, HINT_JSON, &n->out);
	if (types && !(types & TYPE_STRING) && n->out.n > at && n->out.p[at] == '"')
		n->why = "a value without quote marks is not of its type";
	n->s = str_skip(n->s, length);
	return n->s.n > 0;
}

static bool read_value(struct nested_call *n, struct str schema)
{
	struct str text;

	if (!n->s.n)
		return false;
	if (n->s.p[0] == '{' || n->s.p[0] == '[') {
		bool list = n->s.p[0] == '[';

		open_container(n, &(struct open_value){
					  .list = list, .end = list ? ']' : '}', .schema = schema});
		n->s = str_skip(n->s, 1);
		return true;
	}
	if (!str_starts(n->s, str_from(n->quote)))
		return read_bare_value(n, schema);
	if (!read_string(n, &text))
		return false;
	typed_value(n->f, n->root, schema, text, HINT_TEXT, &n->out);
	return true;
}

/* Reads one member of the innermost container, or its end. False: the text ends inside it. */
static bool read_member(struct nested_call *n)
{
	struct open_value *c = top(n);
	struct str key = STR_NONE;

	n->s = skip_whitespace(n->s);
	if (n->s.n && n->s.p[0] == c->end) {
		n->s = str_skip(n->s, 1);
		close_container(n);
		return true;
	}
	if (c->any) {
		if (n->s.n && n->s.p[0] != ',')
			n->why = NO_PAIRS;
		n->s = skip_whitespace(str_skip(n->s, 1));
		buf_char(&n->out, ',');
	}
	c->any = true;
	if (c->list)
		return read_value(n, JSON_GET(c->schema, "items"));
	if (!read_key(n, &key))
		return false;
	json_quote(&n->out, key);
	buf_char(&n->out, ':');
	return read_value(n, typed_property(n->root, c->schema, key));
}

static struct str read_name(struct str *s)
{
	*s = skip_whitespace(*s);
	*s = str_skip(*s, str_starts(*s, STR("call:")) ? strlen("call:") : 0);
	*s = str_skip(*s, str_starts(*s, STR(":")));
	struct str name = leading_name(*s);

	*s = skip_whitespace(str_skip(*s, name.n));
	return name;
}

void grammar_pairs(struct finder *f, const struct tool_format *row, struct str *rest)
{
	struct str s = *rest, name = read_name(&s);
	size_t end = call_end(f, row, *rest);
	struct nested_call n = {.f = f,
	                        .quote = row->quote,
	                        .root = call_schema(f, name),
	                        .s = str_skip(s, 1),
	                        .out = BUF(FOUND_TEXT_MAX)};
	bool read = true;

	if (!s.n) {
		found_cut(f, name, STR_NONE);
		*rest = s;
		return;
	}
	if (s.p[0] != '{' && s.p[0] != '(') {
		name = text_trim((struct str){name.p, (size_t)(rest->p + end - name.p)});
		n.why = is_offered(f, name) ? NULL : "it has no arguments in braces";
		n.s = str_skip(*rest, end);
	} else {
		open_container(&n, &(struct open_value){.end = s.p[0] == '(' ? ')' : '}',
		                                        .schema = n.root});
		while (n.depth && !n.why && read)
			read = read_member(&n);
		/* a quote mark before the arguments' end may be wrong */
		struct str left = {n.s.p, call_end(f, row, n.s)};
		if (read && !n.why && mark_at(f, left, row->quote) < left.n)
			n.why = "a string follows its arguments";
	}
	add_call(&n, row, name, read, rest);
}

/* ---- elements ---- */

static struct str child_schema(const struct nested_call *n, struct str schema, struct str name)
{
	struct str found = typed_property(n->root, schema, name);
	struct str items = JSON_GET(schema, "items"), each;
	struct str list =
		JSON_GET(schema, "anyOf").p ? JSON_GET(schema, "anyOf") : JSON_GET(schema, "oneOf");

	for (size_t cursor = 0; !items.p && json_next(list, &cursor, &each);)
		items = JSON_GET(each, "items");
	return found.p ? found : items;
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

static void end_repeated(struct nested_call *n)
{
	buf_text(&n->out, top(n)->many ? "]" : "");
	top(n)->many = false;
}

/* Makes an array of the last member's value. */
static void begin_repeated(struct nested_call *n)
{
	struct open_value *c = top(n);
	char *room = c->many ? NULL : buf_room(&n->out, 1);

	if (room) {
		memmove(n->out.p + c->at + 1, n->out.p + c->at, n->out.n - c->at);
		n->out.p[c->at] = '[';
		n->out.n++;
	}
	c->many = true;
}

static void begin_element(struct nested_call *n, struct str name)
{
	struct open_value *c = top(n);
	bool again = c->any && str_eq(c->last, name);
	uint64_t hash = map_hash_with(map_hash(name), c->serial);

	if (!c->list && again)
		begin_repeated(n);
	else if (!c->list)
		end_repeated(n);
	buf_text(&n->out, c->any ? "," : "");
	c->any = true;
	c->last = name;
	if (c->list || again)
		return;
	if (map_find(&n->keys, hash, STR_NONE))
		n->why = "a parameter is repeated";
	map_add(&n->keys, arena_new(n->f->arena, sizeof(struct map_item)), hash);
	json_quote(&n->out, name);
	buf_char(&n->out, ':');
	c->at = n->out.n;
}

/* An element without children. */
static void put_text(struct nested_call *n, struct str schema, struct str text)
{
	unsigned types = schema_types(n->root, schema);
	bool container = types & (TYPE_ARRAY | TYPE_OBJECT) && !(types & TYPE_STRING);

	if (container && !text_trim(text).n)
		buf_text(&n->out, types & TYPE_ARRAY ? "[]" : "{}");
	else
		typed_value(n->f, n->root, schema, text, HINT_NONE, &n->out);
}

/* An element that was opened and has no children so far. */
struct leaf {
	struct str name, schema;
};

static void open_tag(struct nested_call *n, struct str name, struct leaf *leaf)
{
	unsigned types = leaf->name.p ? schema_types(n->root, leaf->schema) : 0;
	bool list = types & TYPE_ARRAY || (!(types & TYPE_OBJECT) && str_is(name, "item"));

	if (leaf->name.p) {
		open_container(n, &(struct open_value){.list = list,
		                                       .schema = leaf->schema,
		                                       .name = leaf->name});
	}
	begin_element(n, name);
	*leaf = (struct leaf){name, child_schema(n, top(n)->schema, name)};
}

/* text: before the tag. */
static void close_tag(struct nested_call *n, struct str name, struct str text, struct leaf *leaf)
{
	if (!str_eq(name, leaf->name.p ? leaf->name : top(n)->name)) {
		n->why = "a parameter has no end tag";
	} else if (leaf->name.p) {
		put_text(n, leaf->schema, text);
		leaf->name = STR_NONE;
	} else {
		end_repeated(n);
		close_container(n);
	}
}

/* Reads everything up to the end of the call. False: the text ends before it. */
static bool read_elements(struct nested_call *n)
{
	struct leaf leaf = {.name = STR_NONE};
	struct str text, tag;

	while (!n->why && n->depth && cut_at(n->f, n->s, NAMESPACE, &text, &n->s)) {
		/* the tokenizer may double the bracket */
		text.n -= text.n && n->depth == 1 && !leaf.name.p && text.p[text.n - 1] == ']';
		if (!read_tag(n->f, &n->s, &tag))
			return false;
		bool closes = tag.n && tag.p[0] == '/';

		if (text_trim(text).n && !(closes && leaf.name.p))
			n->why = TEXT_BETWEEN;
		else if (closes)
			close_tag(n, str_skip(tag, 1), text, &leaf);
		else
			open_tag(n, tag, &leaf);
	}
	return n->why || !n->depth;
}

void grammar_elements(struct finder *f, const struct tool_format *row, struct str *rest)
{
	struct nested_call n = {.f = f, .out = BUF(FOUND_TEXT_MAX)};
	struct str tag, name;

	if (!cut_at(f, *rest, ">", &tag, &n.s) || !cut_at(f, tag, "=", &name, &name))
		return; /* no name: the mark is ordinary text */
	name = text_trim(name);
	name = name.n > 1 && strchr("\"'", name.p[0]) ? (struct str){name.p + 1, name.n - 2} : name;
	n.root = call_schema(f, name);
	open_container(&n, &(struct open_value){.schema = n.root, .name = STR("invoke")});
	bool read = read_elements(&n);
	add_call(&n, row, name, read, rest);
}
