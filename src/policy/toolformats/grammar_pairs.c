/* Gemma's calls: call:NAME{key:value,key:{..},key:[..]}. Strings are between quote marks; other
   values are typed by the schema. One pass with a stack of open containers. */
#include "json/write.h"
#include "policy/toolformats/reader_internal.h"

#include "base/text.h"

#define DEPTH_MAX 64

struct pairs {
	struct finder *f;
	const char *quote;
	struct str root, s; /* the tool's schema; the rest of the text */
	struct buf out;
	char open[DEPTH_MAX]; /* closing brackets of the open containers */
	struct str schema[DEPTH_MAX];
	size_t depth;
	bool first; /* at the first element of the innermost container */
	const char *why;
};

/* ---- containers ---- */

static void push(struct pairs *p, char end, struct str schema)
{
	if (p->depth == DEPTH_MAX) {
		p->why = "it is nested too deeply";
		return;
	}
	p->open[p->depth] = end;
	p->schema[p->depth++] = schema;
	p->first = true;
	buf_char(&p->out, end == ']' ? '[' : '{');
	p->s = str_skip(p->s, 1);
}

static void pop(struct pairs *p)
{
	char end = p->open[--p->depth];

	buf_char(&p->out, end == ']' ? ']' : '}');
	p->s = str_skip(p->s, 1);
	p->first = false;
}

/* ---- keys and values ---- */

static bool read_string(struct pairs *p, struct str *text)
{
	struct str before;

	return cut_at(p->f, p->s, p->quote, &before, &p->s) &&
	       cut_at(p->f, p->s, p->quote, text, &p->s);
}

/* False: the text ends inside the key. */
static bool read_key(struct pairs *p, struct str *key)
{
	struct str name;

	if (str_starts(p->s, str_from(p->quote))) {
		if (!read_string(p, key))
			return false;
		p->s = skip_whitespace(p->s);
	} else {
		name = leading_name(p->s);
		name.n = mark_at(p->f, name, ":");
		*key = name;
		if (name.n > 1 && name.n < p->s.n && p->s.p[name.n] != ':')
			p->why = "it does not consist of keys and values";
		p->s = str_skip(p->s, name.n);
	}
	if (p->s.n && (p->s.p[0] != ':' || !key->n))
		p->why = "it does not consist of keys and values";
	bool there = p->s.n > 0;
	p->s = skip_whitespace(str_skip(p->s, 1));
	return there;
}

static bool read_value(struct pairs *p, struct str schema)
{
	size_t n = 0;
	struct str text;

	if (!p->s.n)
		return false;
	if (p->s.p[0] == '{' || p->s.p[0] == '[') {
		push(p, p->s.p[0] == '{' ? '}' : ']', schema);
		return true;
	}
	if (str_starts(p->s, str_from(p->quote))) {
		if (!read_string(p, &text))
			return false;
		typed_value(p->f, p->root, schema, text, HINT_TEXT, &p->out);
		p->first = false;
		return true;
	}
	while (n < p->s.n && !strchr(",]})", p->s.p[n]))
		n++;
	text = text_trim((struct str){p->s.p, n});
	if (!text.n)
		p->why = "a value is missing";
	else if (mark_at(NULL, text, p->quote) < text.n)
		p->why = "a quote mark of a string is missing";
	size_t at = p->out.n;
	unsigned types = schema_types(p->root, schema);
	typed_value(p->f, p->root, schema, text, HINT_JSON, &p->out);
	if (types && !(types & TYPE_STRING) && p->out.n > at && p->out.p[at] == '"')
		p->why = "a value without quote marks is not of its type";
	p->first = false;
	p->s = str_skip(p->s, n);
	return p->s.n > 0;
}

static struct str schema_of(struct pairs *p, struct str key)
{
	struct str schema = p->schema[p->depth - 1];

	if (p->open[p->depth - 1] == ']')
		return JSON_GET(schema, "items");
	return typed_property(p->root, schema, key);
}

/* Reads one element of the innermost container, or its end. False: the text ends inside it. */
static bool read_member(struct pairs *p)
{
	struct str key = STR_NONE;

	p->s = skip_whitespace(p->s);
	if (p->s.n && p->s.p[0] == p->open[p->depth - 1]) {
		pop(p);
		return true;
	}
	if (!p->first) {
		if (p->s.n && p->s.p[0] != ',')
			p->why = "it does not consist of keys and values";
		p->s = skip_whitespace(str_skip(p->s, 1));
		buf_char(&p->out, ',');
	}
	if (p->open[p->depth - 1] != ']') {
		if (!read_key(p, &key))
			return false;
		json_quote(&p->out, key);
		buf_char(&p->out, ':');
	}
	return read_value(p, schema_of(p, key));
}

static bool read_object(struct pairs *p, struct str root)
{
	push(p, p->s.p[0] == '(' ? ')' : '}', root);
	while (p->depth && !p->why)
		if (!read_member(p))
			return false;
	return true;
}

/* ---- the call ---- */

static struct str read_name(struct str *s)
{
	struct str name;

	*s = skip_whitespace(*s);
	*s = str_skip(*s, str_starts(*s, STR("call:")) ? strlen("call:") : 0);
	*s = str_skip(*s, str_starts(*s, STR(":")) ? 1 : 0);
	name = leading_name(*s);
	*s = skip_whitespace(str_skip(*s, name.n));
	return name;
}

/* Are there quote marks between the arguments and the end of the call? Then a quote mark before them
   may be wrong. */
static bool has_quotes(struct finder *f, const struct tool_format *row, struct str s)
{
	s.n = call_end(f, row, s);
	return mark_at(f, s, row->quote) < s.n;
}

void grammar_pairs(struct finder *f, const struct tool_format *row, struct str *before,
                   struct str *rest)
{
	struct str s = *rest, name = read_name(&s), source = *rest;
	struct pairs p = {.f = f, .quote = row->quote, .out = BUF(FOUND_TEXT_MAX)};
	size_t first = f->count, end = call_end(f, row, *rest);
	struct typed t;

	(void)before;
	if (!s.n) {
		found_cut(f, name, STR_NONE);
		*rest = s;
		return;
	}
	typed_begin(f, name, &t);
	p.root = t.root;
	p.s = s;
	buf_release(&t.object);
	source.n = end;
	if (s.p[0] != '{' && s.p[0] != '(') {
		name.n = (size_t)(rest->p + end - name.p);
		name = text_trim(name);
		if (is_offered(f, name))
			found_add(f, (struct found_call){.name = name});
		else
			found_bad(f, name, source, "it has no arguments in braces");
		s = str_skip(*rest, end);
	} else if (!read_object(&p, t.root)) {
		found_cut(f, name, *rest);
		s = str_skip(s, s.n);
	} else if (p.why || has_quotes(f, row, p.s)) {
		found_bad(f, name, source, p.why ? p.why : "a string follows its arguments");
		s = str_skip(*rest, end);
	} else {
		found_add(f,
		          (struct found_call){.name = name,
		                              .arguments = arena_str(f->arena, buf_view(&p.out))});
		s = p.s;
	}
	buf_release(&p.out);
	leave_call(f, row, first, &s);
	*rest = s;
}
