/* Headers that repeat parts of a request: see headers.h. */
#define _GNU_SOURCE /* memmem */
#include "env/mcp/headers.h"

#include "base/base64.h"
#include "base/log.h"
#include "json/scan.h"

#define MARKS_MAX 64 /* of one tool */
#define NAME_MAX  ((size_t)256)
#define MARK      "x-mcp-header"

/* ---- lines ---- */

#define BASE64_OPEN  STR("=?base64?")
#define BASE64_CLOSE STR("?=")

static bool is_plain(struct str value)
{
	if (value.n && (value.p[0] == ' ' || value.p[value.n - 1] == ' '))
		return false;
	for (size_t i = 0; i < value.n; i++)
		if (value.p[i] < ' ' || value.p[i] > '~')
			return false;
	return !str_starts(value, BASE64_OPEN) || !str_ends(value, BASE64_CLOSE);
}

static void log_omitted(const char *prefix, struct str name)
{
	log_warn("the header %s%.*s would be too long: omitted", prefix, STR_ARG(name));
}

/* A line that is too long is omitted. */
static void add_line(struct buf *out, const char *prefix, struct str name, struct str value)
{
	size_t n = strlen(prefix) + name.n + value.n / 3 * 4 + 32;

	if (value.n > MCP_HEADER_VALUE_MAX || n > out->max - out->n) {
		log_omitted(prefix, name);
		return;
	}
	buf_text(out, prefix);
	buf_str(out, name);
	if (!value.n) {
		buf_char(out, ';');
	} else if (is_plain(value)) {
		buf_text(out, ": ");
		buf_str(out, value);
	} else {
		buf_text(out, ": ");
		buf_str(out, BASE64_OPEN);
		base64_encode(out, value);
		buf_str(out, BASE64_CLOSE);
	}
	buf_char(out, '\0');
}

void mcp_header_add(struct buf *out, const char *name, struct str value)
{
	add_line(out, name, STR_NONE, value);
}

/* ---- marks in a schema ---- */

/* The properties of an object in the arguments, and that object; it may be absent. */
struct level {
	struct str properties, value;
	size_t cursor;
};

/* Looks at properties, and those of properties: only they can be marked. Validated JSON is never nested
   deeper. */
struct schema_walk {
	struct level levels[JSON_DEPTH_MAX];
	size_t depth;
	struct buf key;
};

/* A property with a mark, and its value in the arguments; may be absent. */
struct header_mark {
	struct str schema, mark, value;
};

static void enter(struct schema_walk *w, struct str schema, struct str value)
{
	struct str properties = JSON_GET(schema, "properties");

	if (json_type(properties) == JSON_OBJECT && w->depth < ARRAY_LEN(w->levels))
		w->levels[w->depth++] = (struct level){.properties = properties, .value = value};
}

static void walk_start(struct schema_walk *w, struct str tool, struct str arguments)
{
	w->depth = 0;
	w->key = BUF(BUF_MAX_SMALL);
	enter(w, JSON_GET(tool, "inputSchema"), arguments);
}

static struct str member_named(struct schema_walk *w, struct str object, struct str key)
{
	buf_clear(&w->key);
	json_decode_key(key, &w->key);
	return w->key.full ? STR_NONE : json_get(object, buf_view(&w->key));
}

/* Only schemas with a mark need their argument, so the others are skipped. */
static bool holds_mark(struct str schema)
{
	return memmem(schema.p, schema.n, MARK, strlen(MARK)) ||
	       memmem(schema.p, schema.n, "\\u", 2); /* it may be escaped */
}

static bool next_mark(struct schema_walk *w, struct header_mark *out)
{
	struct json_member m;

	while (w->depth) {
		struct level *l = &w->levels[w->depth - 1];

		if (!json_next_member(l->properties, &l->cursor, &m)) {
			w->depth--;
			continue;
		}
		if (!holds_mark(m.value))
			continue;
		*out = (struct header_mark){.schema = m.value,
		                            .mark = JSON_GET(m.value, MARK),
		                            .value = member_named(w, l->value, m.key)};
		enter(w, m.value, out->value);
		if (out->mark.p)
			return true;
	}
	buf_release(&w->key);
	return false;
}

/* ---- rules ---- */

static bool is_token(struct str s)
{
	static const char others[] = "!#$%&'*+-.^_`|~"; /* RFC 9110 section 5.6.2 */

	for (size_t i = 0; i < s.n; i++) {
		char c = s.p[i];
		bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');

		if (!letter && !(c >= '0' && c <= '9') && (!c || !strchr(others, c)))
			return false;
	}
	return s.n > 0;
}

static bool is_primitive(struct str type)
{
	return json_is(type, STR("string")) || json_is(type, STR("integer")) ||
	       json_is(type, STR("boolean"));
}

/* One of the three types, or one of them or null. */
static bool fits_header(struct str type)
{
	struct str each;
	size_t cursor = 0, primitive = 0;

	while (json_next(type, &cursor, &each)) {
		if (!is_primitive(each) && !json_is(each, STR("null")))
			return false;
		primitive += is_primitive(each);
	}
	return primitive > 0 || is_primitive(type);
}

/* The decoded name; absent if it is none. */
static struct str name_of(struct str mark, struct buf *name)
{
	buf_clear(name);
	if (json_type(mark) != JSON_STRING || !json_decode(mark, name) || name->full ||
	    !is_token(buf_view(name))) {
		return STR_NONE;
	}
	return buf_view(name);
}

/* Names already seen, one per line, as all of them are tokens. */
static bool seen_before(const struct buf *seen, struct str name)
{
	struct str rest = buf_view(seen);

	while (rest.n)
		if (str_eq_nocase(str_cut(&rest, '\n'), name))
			return true;
	return false;
}

static const char *broken_rule(const struct header_mark *m, struct str name, const struct buf *seen)
{
	if (!name.n)
		return "is not a valid HTTP field name";
	if (!fits_header(JSON_GET(m->schema, "type")))
		return "is on a property that is not a string, integer or boolean";
	return seen_before(seen, name) ? "is used twice" : NULL;
}

int mcp_header_marks(struct str tool, struct buf *why)
{
	struct schema_walk w;
	AUTO_BUF name = BUF(NAME_MAX), seen = BUF((NAME_MAX + 1) * MARKS_MAX);
	struct header_mark m;
	const char *broken = NULL;
	int count = 0;

	walk_start(&w, tool, STR_NONE);
	while (!broken && next_mark(&w, &m)) {
		broken = broken_rule(&m, name_of(m.mark, &name), &seen);
		broken =
			!broken && ++count > MARKS_MAX ? "exceeds the limit of 64 headers" : broken;
		buf_str(&seen, buf_view(&name));
		buf_char(&seen, '\n');
	}
	if (broken) {
		buf_printf(why, "%s %.*s %s", MARK,
		           (int)(m.mark.n < NAME_MAX ? m.mark.n : NAME_MAX), m.mark.p, broken);
	}
	buf_release(&w.key);
	return broken ? -1 : count;
}

/* ---- values ---- */

/* As spelled in the header; false if there is nothing to repeat. */
static bool spell(struct str value, struct buf *out)
{
	enum json_type type = json_type(value);
	int64_t whole;

	buf_clear(out);
	if (json_i64(value, &whole))
		buf_printf(out, "%lld", (long long)whole);
	else
		json_text_or_json(value, out);
	return type != JSON_ABSENT && type != JSON_NULL && type != JSON_ARRAY &&
	       type != JSON_OBJECT;
}

void mcp_header_add_params(struct buf *out, struct str tool, struct str arguments)
{
	struct schema_walk w;
	AUTO_BUF name = BUF(NAME_MAX), value = BUF(MCP_HEADER_VALUE_MAX);
	struct header_mark m;

	walk_start(&w, tool, arguments);
	while (next_mark(&w, &m)) {
		struct str called = name_of(m.mark, &name);

		if (!called.n || !spell(m.value, &value))
			continue;
		if (value.full)
			log_omitted("Mcp-Param-", called);
		else
			add_line(out, "Mcp-Param-", called, buf_view(&value));
	}
}
