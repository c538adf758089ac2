/* Headers that repeat parts of a request: see headers.h. */
#define _GNU_SOURCE /* memmem */
#include "env/mcp/headers.h"

#include "base/base64.h"
#include "base/log.h"
#include "base/text.h"
#include "json/scan.h"

#include <strings.h>

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
static void add_line(struct mcp_header_lines *out, const char *prefix, struct str name,
                     struct str value)
{
	size_t n = strlen(prefix) + name.n + value.n / 3 * 4 + 32;

	if (value.n > MCP_HEADER_VALUE_MAX || n > out->text.max - out->text.n) {
		log_omitted(prefix, name);
		return;
	}
	buf_text(&out->text, prefix);
	buf_str(&out->text, name);
	if (!value.n) {
		buf_char(&out->text, ';');
	} else if (is_plain(value)) {
		buf_text(&out->text, ": ");
		buf_str(&out->text, value);
	} else {
		buf_text(&out->text, ": ");
		buf_str(&out->text, BASE64_OPEN);
		base64_encode(&out->text, value);
		buf_str(&out->text, BASE64_CLOSE);
	}
	buf_char(&out->text, '\0');
	out->count++;
}

void mcp_header_add(struct mcp_header_lines *out, const char *name, struct str value)
{
	add_line(out, name, STR_NONE, value);
}

/* ---- marks in a schema ---- */

/* The kind of value at one level of the walk. */
enum place {
	SCHEMA,
	SCHEMAS_BY_NAME,
	SCHEMAS_LISTED,
};

struct level {
	struct str node;
	size_t cursor;
	enum place place;
	bool reachable;   /* reachable from the root through `properties` only */
	struct str value; /* the value in the arguments there; may be absent */
};

/* Validated JSON is never nested deeper. */
struct schema_walk {
	struct level levels[JSON_DEPTH_MAX];
	size_t depth;
	struct buf key;
};

/* Keywords of JSON Schema 2020-12 whose values are schemas. Values of other keywords (default,
   const, enum, examples) are data, and a $ref is not followed. */
struct keyword {
	const char *name;
	enum place place;
};

static const struct keyword keywords[] = {
	{"properties", SCHEMAS_BY_NAME},
	{"patternProperties", SCHEMAS_BY_NAME},
	{"dependentSchemas", SCHEMAS_BY_NAME},
	{"$defs", SCHEMAS_BY_NAME},
	{"definitions", SCHEMAS_BY_NAME},
	{"items", SCHEMA},
	{"prefixItems", SCHEMAS_LISTED},
	{"additionalItems", SCHEMA},
	{"unevaluatedItems", SCHEMA},
	{"contains", SCHEMA},
	{"additionalProperties", SCHEMA},
	{"unevaluatedProperties", SCHEMA},
	{"propertyNames", SCHEMA},
	{"contentSchema", SCHEMA},
	{"allOf", SCHEMAS_LISTED},
	{"anyOf", SCHEMAS_LISTED},
	{"oneOf", SCHEMAS_LISTED},
	{"not", SCHEMA},
	{"if", SCHEMA},
	{"then", SCHEMA},
	{"else", SCHEMA},
};

/* 0 is `properties`; ARRAY_LEN(keywords): not in the list. */
static size_t keyword_of(struct str key)
{
	size_t i = 0;

	while (i < ARRAY_LEN(keywords) && !json_key_is(key, str_from(keywords[i].name)))
		i++;
	return i;
}

static struct str member_named(struct schema_walk *w, struct str object, struct str key)
{
	if (json_type(object) != JSON_OBJECT)
		return STR_NONE;
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

static bool next_of_schema(struct level *l, struct level *child)
{
	struct json_member m;

	while (json_next_member(l->node, &l->cursor, &m)) {
		size_t k = keyword_of(m.key);

		if (k == ARRAY_LEN(keywords))
			continue;
		*child = (struct level){.node = m.value, .place = keywords[k].place};
		if (k == 0) {
			child->reachable = l->reachable;
			child->value = l->value;
		}
		if (m.type == JSON_ARRAY) /* `items` of older drafts */
			child->place = SCHEMAS_LISTED;
		return true;
	}
	return false;
}

static bool next_child(struct schema_walk *w, struct level *l, struct level *child)
{
	struct json_member m;

	switch (l->place) {
	case SCHEMA:
		return next_of_schema(l, child);
	case SCHEMAS_BY_NAME:
		if (!json_next_member(l->node, &l->cursor, &m))
			return false;
		*child = (struct level){.node = m.value, .reachable = l->reachable};
		if (l->reachable && holds_mark(m.value))
			child->value = member_named(w, l->value, m.key);
		return true;
	case SCHEMAS_LISTED:
		break;
	}
	*child = (struct level){.place = SCHEMA};
	return json_next(l->node, &l->cursor, &child->node);
}

/* The next schema with a mark; the root is left to the caller. The level is valid until the next
   call. */
static const struct level *next_mark(struct schema_walk *w)
{
	while (w->depth) {
		struct level child;

		if (!next_child(w, &w->levels[w->depth - 1], &child)) {
			w->depth--;
			continue;
		}
		if (w->depth < ARRAY_LEN(w->levels))
			w->levels[w->depth++] = child;
		if (child.place == SCHEMA && JSON_GET(child.node, MARK).p)
			return &w->levels[w->depth - 1];
	}
	buf_release(&w->key);
	return NULL;
}

static struct str schema_of(struct str tool)
{
	return JSON_GET(tool, "inputSchema");
}

static void walk_start(struct schema_walk *w, struct str schema, struct str arguments)
{
	w->depth = 1;
	w->key = BUF(BUF_MAX_SMALL);
	w->levels[0] = (struct level){
		.node = schema, .place = SCHEMA, .reachable = true, .value = arguments};
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

/* The decoded name; empty if it is not a string. */
static struct str name_of(const struct level *l, struct buf *name)
{
	struct str mark = JSON_GET(l->node, MARK);

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

	while (rest.n) {
		struct str one = str_cut(&rest, '\n');

		if (one.n == name.n && !strncasecmp(one.p, name.p, one.n))
			return true;
	}
	return false;
}

static const char *broken_rule(const struct level *l, struct str name, const struct buf *seen)
{
	if (!name.n)
		return "is not a valid HTTP field name";
	if (!l->reachable)
		return "is not on a property of the arguments";
	if (!fits_header(JSON_GET(l->node, "type")))
		return "is on a property that is not a string, integer or boolean";
	return seen_before(seen, name) ? "is used twice" : NULL;
}

int mcp_header_marks(struct str tool, struct buf *why)
{
	struct schema_walk w;
	struct str schema = schema_of(tool), at_root = JSON_GET(schema, MARK);
	struct buf name = BUF(NAME_MAX), seen = BUF((NAME_MAX + 1) * MARKS_MAX);
	const struct level *l;
	const char *broken = at_root.p ? "is on the arguments as a whole" : NULL;
	struct str mark = at_root;
	int count = 0;

	walk_start(&w, schema, STR_NONE);
	while ((l = next_mark(&w)) && !broken) {
		broken = broken_rule(l, name_of(l, &name), &seen);
		broken =
			!broken && ++count > MARKS_MAX ? "exceeds the limit of 64 headers" : broken;
		mark = JSON_GET(l->node, MARK);
		buf_str(&seen, buf_view(&name));
		buf_char(&seen, '\n');
	}
	if (broken) {
		buf_printf(why, "%s %.*s %s", MARK, (int)(mark.n < NAME_MAX ? mark.n : NAME_MAX),
		           mark.p, broken);
	}
	BUFS_RELEASE(&w.key, &name, &seen);
	return broken ? -1 : count;
}

/* ---- values ---- */

/* As spelled in the header; false if there is nothing to repeat. */
static bool spell(struct str value, struct buf *out)
{
	int64_t whole;

	buf_clear(out);
	switch (json_type(value)) {
	case JSON_STRING:
		json_decode(value, out);
		return true;
	case JSON_NUMBER:
		if (json_i64(value, &whole)) {
			buf_printf(out, "%lld", (long long)whole);
			return true;
		}
		buf_str(out, value);
		return true;
	case JSON_TRUE:
	case JSON_FALSE:
		buf_str(out, value);
		return true;
	case JSON_ABSENT:
	case JSON_NULL:
	case JSON_ARRAY:
	case JSON_OBJECT:
		break;
	}
	return false;
}

void mcp_header_add_params(struct mcp_header_lines *out, struct str tool, struct str arguments)
{
	struct schema_walk w;
	struct buf name = BUF(NAME_MAX), value = BUF(MCP_HEADER_VALUE_MAX);
	const struct level *l;

	walk_start(&w, schema_of(tool), arguments);
	while ((l = next_mark(&w))) {
		struct str called = l->reachable ? name_of(l, &name) : STR("");

		if (!called.n || !spell(l->value, &value))
			continue;
		if (value.full)
			log_omitted("Mcp-Param-", called);
		else
			add_line(out, "Mcp-Param-", called, buf_view(&value));
	}
	BUFS_RELEASE(&name, &value);
}
