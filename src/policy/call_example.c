/* Example calls: see call_example.h. */
#include "policy/call_example.h"

#include "json/schema.h"
#include "json/write.h"
#include "policy/draw.h"
#include "policy/tools.h"

/* No blank, quote or backslash, which call_text.h reads as more than a character. */
static bool is_word(struct str s)
{
	static const char special[] = " \t\r\n'\"\\";

	for (size_t i = 0; i < s.n; i++) {
		if ((unsigned char)s.p[i] < ' ' || strchr(special, s.p[i])) {
			return false;
		}
	}
	return s.n > 0;
}

/* As a word in double quotes. */
static bool is_phrase(struct str s)
{
	for (size_t i = 0; i < s.n; i++) {
		if ((unsigned char)s.p[i] < ' ' || strchr("'\"\\", s.p[i])) {
			return false;
		}
	}
	return s.n > 0;
}

/* key=value or key:=JSON; false: it takes more than quotes. */
static bool put_word(struct references *r, struct str properties, const struct json_member *m,
                     struct buf *out)
{
	struct str schema = schema_resolve_in(r, json_get(properties, m->key));
	struct str text = m->type == JSON_STRING ? json_inner(m->value) : m->value;
	bool is_text = m->type == JSON_STRING && text.n && text.p[0] != '@' &&
	               !schema_alternatives(schema).p;
	bool is_other = m->type != JSON_STRING && schema_names_any(r, schema) &&
	                !schema_names(r, schema, "string");

	if (!is_word(m->key) || memchr(m->key.p, '=', m->key.n) ||
	    (m->type == JSON_STRING ? !is_text || !is_phrase(text) : !is_word(text))) {
		return false;
	}
	if (!is_word(text)) {
		buf_printf(out, " %.*s=\"%.*s\"", STR_ARG(m->key), STR_ARG(text));
		return true;
	}
	buf_printf(out, " %.*s%s%.*s", STR_ARG(m->key),
	           is_text || is_other ? "=" : ":=", STR_ARG(text));
	return true;
}

static bool put_words(struct str tool, struct str name, struct str arguments, struct buf *out)
{
	struct str schema = tool_schema(tool);
	struct arena arena = {0};
	struct references r;
	struct json_member m;
	size_t cursor = 0;
	bool fits = is_word(name) && !memchr(name.p, '=', name.n) && name.p[0] != '{';

	references_begin(&r, schema, &arena);
	buf_str(out, name);
	while (fits && json_next_member(arguments, &cursor, &m)) {
		fits = put_word(&r, JSON_GET(schema, "properties"), &m, out);
	}
	arena_release(&arena);
	return fits;
}

void call_spell(struct str tool, struct str name, struct str arguments, struct buf *out)
{
	size_t start = out->n;

	if (put_words(tool, name, arguments, out)) {
		return;
	}
	buf_cut(out, start);
	json_put(out, "{name:%s,arguments:%r}", name, arguments);
}

void call_example_arguments(struct str tool, struct buf *out)
{
	struct arena arena = {0};
	struct named_values named;

	named_values_begin(&named, &arena, tool);
	draw_arguments(NULL, tool_schema(tool), &named, out);
	arena_release(&arena);
}

void call_example(struct str tool, struct buf *out)
{
	struct buf arguments = BUF(BUF_MAX_MESSAGE);
	struct arena arena = {0};
	struct str name = json_text(&arena, JSON_GET(tool, "name"));

	if (name.n) {
		call_example_arguments(tool, &arguments);
		call_spell(tool, name, buf_view(&arguments), out);
	}
	buf_release(&arguments);
	arena_release(&arena);
}
