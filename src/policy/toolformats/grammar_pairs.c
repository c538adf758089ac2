/* Gemma's calls: call:NAME{key:value,key:{..},key:[..]}. Strings stand between marks (quote), what
   stands bare is typed by the schema. One pass with a stack of what is open. */
#include "json/write.h"
#include "policy/toolformats/reader_internal.h"

#include "base/text.h"

#define DEPTH_MAX 64

struct pairs {
	struct finder *f;
	const char *quote;
	struct str root, s; /* the tool's schema; what is still to be read */
	struct buf out;
	char open[DEPTH_MAX]; /* the ends that are due */
	struct str schema[DEPTH_MAX];
	size_t depth;
	bool first; /* in the innermost container */
	const char *why;
};

/* ---- containers ---- */

static void push(struct pairs *p, char end, struct str schema)
{
	if (p->depth == DEPTH_MAX) {
		p->why = "it is nested too deep";
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

static bool take_string(struct pairs *p, struct str *text)
{
	struct str before;

	return cut_at(p->f, p->s, p->quote, &before, &p->s) &&
	       cut_at(p->f, p->s, p->quote, text, &p->s);
}

/* False: the text ends inside. */
static bool take_key(struct pairs *p, struct str *key)
{
	struct str name;

	if (str_starts(p->s, str_from(p->quote))) {
		if (!take_string(p, key)) {
			return false;
		}
		p->s = skip_blanks(p->s);
	} else {
		name = leading_name(p->s);
		name.n = mark_at(p->f, name, ":");
		*key = name;
		if (name.n > 1 && name.n < p->s.n && p->s.p[name.n] != ':') {
			p->why = "it is not written as keys and values";
		}
		p->s = str_skip(p->s, name.n);
	}
	if (p->s.n && (p->s.p[0] != ':' || !key->n)) {
		p->why = "it is not written as keys and values";
	}
	bool there = p->s.n > 0;
	p->s = skip_blanks(str_skip(p->s, 1));
	return there;
}

static bool take_value(struct pairs *p, struct str schema)
{
	size_t n = 0;
	struct str text;

	if (!p->s.n) {
		return false;
	}
	if (p->s.p[0] == '{' || p->s.p[0] == '[') {
		push(p, p->s.p[0] == '{' ? '}' : ']', schema);
		return true;
	}
	if (str_starts(p->s, str_from(p->quote))) {
		if (!take_string(p, &text)) {
			return false;
		}
		typed_value(p->f, p->root, schema, text, HINT_TEXT, &p->out);
		p->first = false;
		return true;
	}
	while (n < p->s.n && !strchr(",]})", p->s.p[n])) {
		n++;
	}
	text = text_trim((struct str){p->s.p, n});
	if (!text.n) {
		p->why = "one of its values is missing";
	}
	typed_value(p->f, p->root, schema, text, HINT_JSON, &p->out);
	p->first = false;
	p->s = str_skip(p->s, n);
	return p->s.n > 0;
}

static struct str schema_of(struct pairs *p, struct str key)
{
	struct str schema = p->schema[p->depth - 1];

	if (p->open[p->depth - 1] == ']') {
		return JSON_GET(schema, "items");
	}
	return typed_property(p->root, schema, key);
}

/* One element of the innermost container, or its end. False: the text ends inside. */
static bool take_one(struct pairs *p)
{
	struct str key = STR_NONE;

	p->s = skip_blanks(p->s);
	if (p->s.n && p->s.p[0] == p->open[p->depth - 1]) {
		pop(p);
		return true;
	}
	if (!p->first) {
		if (p->s.n && p->s.p[0] != ',') {
			p->why = "it is not written as keys and values";
		}
		p->s = skip_blanks(str_skip(p->s, 1));
		buf_char(&p->out, ',');
	}
	if (p->open[p->depth - 1] != ']') {
		if (!take_key(p, &key)) {
			return false;
		}
		json_quote(&p->out, key);
		buf_char(&p->out, ':');
	}
	return take_value(p, schema_of(p, key));
}

/* From the opening bracket to the closing one. */
static bool take_object(struct pairs *p, struct str root)
{
	push(p, p->s.p[0] == '(' ? ')' : '}', root);
	while (p->depth && !p->why) {
		if (!take_one(p)) {
			return false;
		}
	}
	return true;
}

/* ---- the call ---- */

/* call:NAME, :NAME */
static struct str take_name(struct str *s)
{
	struct str name;

	*s = skip_blanks(*s);
	*s = str_skip(*s, str_starts(*s, STR("call:")) ? strlen("call:") : 0);
	*s = str_skip(*s, str_starts(*s, STR(":")) ? 1 : 0);
	name = leading_name(*s);
	*s = skip_blanks(str_skip(*s, name.n));
	return name;
}

void grammar_pairs(struct finder *f, const struct tool_format *row, struct str *before,
                   struct str *rest)
{
	struct str s = *rest, name = take_name(&s), source = *rest;
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
		if (is_offered(f, name)) {
			found_add(f, (struct found_call){.name = name});
		} else {
			found_bad(f, name, source, "it has no arguments in braces");
		}
		s = str_skip(*rest, end);
	} else if (!take_object(&p, t.root)) {
		found_cut(f, name, *rest);
		s = str_skip(s, s.n);
	} else if (p.why) {
		found_bad(f, name, source, p.why);
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
