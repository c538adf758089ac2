/* Checks one value against its schema: see schema.h. */
#include "json/schema.h"

#include "base/names.h"
#include "json/index.h"
#include "json/lex.h"

#define REFERENCES_MAX 16
#define TYPES          {"string", "integer", "number", "boolean", "null", "array", "object"}

/* ---- references ---- */

/* A container that references point into. */
struct indexed_parent {
	struct map_item item;
	struct str container; /* absent: there is none, or in a string */
	struct json_index children;
};

void references_begin(struct references *r, struct str root, struct arena *arena)
{
	*r = (struct references){.root = root, .arena = arena};
}

static struct indexed_parent *parent_at(struct references *r, struct str pointer)
{
	uint64_t hash = map_hash(pointer);
	struct indexed_parent *p = map_find(&r->parents, hash, STR_NONE);
	AUTO_BUF scratch = BUF(BUF_MAX_MESSAGE);

	if (p || r->parents.count == REFERENCES_PARENTS_MAX)
		return p;
	p = arena_new(r->arena, sizeof(*p));
	map_add(&r->parents, &p->item, hash);
	struct str container = json_point(r->root, pointer, &scratch);
	p->container = scratch.n ? STR_NONE : container;
	json_index_begin(&p->children, p->container, r->arena);
	return p;
}

struct str references_point(struct references *r, struct str pointer)
{
	AUTO_BUF token = BUF(BUF_MAX_SMALL);
	struct str parent = pointer, found = STR_NONE;

	if (!pointer.n)
		return r->root;
	while (parent.n && parent.p[parent.n - 1] != '/')
		parent.n--;
	if (!parent.n)
		return STR_NONE;
	parent.n--; /* exclude the slash */
	struct indexed_parent *p = parent_at(r, parent);
	if (p && json_type(p->container) == JSON_ARRAY)
		found = json_point(p->container, str_skip(pointer, parent.n), &token);
	else if (p && lex_token(str_skip(pointer, parent.n + 1), false, &token))
		found = json_index_find(&p->children, buf_view(&token));
	return found;
}

struct str schema_resolve_in(struct references *r, struct str schema)
{
	AUTO_BUF pointer = BUF(BUF_MAX_SMALL);
	struct str ref;

	for (int i = 0; (ref = JSON_GET(schema, "$ref")).p; i++) {
		buf_clear(&pointer);
		if (i < REFERENCES_MAX)
			json_decode(ref, &pointer);
		struct str path = buf_view(&pointer);
		schema = str_starts(path, STR("#")) ? references_point(r, str_skip(path, 1))
		                                    : STR_NONE;
		schema = json_type(schema) == JSON_OBJECT ? schema : STR_NONE;
	}
	return schema;
}

struct str schema_resolve(struct str root, struct str schema)
{
	AUTO_ARENA arena = {0};
	struct references r;

	references_begin(&r, root, &arena);
	return schema_resolve_in(&r, schema);
}

struct str schema_alternatives(struct str schema)
{
	struct str any = JSON_GET(schema, "anyOf"), one = JSON_GET(schema, "oneOf");

	any = json_type(any) == JSON_ARRAY ? any : one;
	return json_type(any) == JSON_ARRAY ? any : STR_NONE;
}

/* "type" is one name or an array of names. */
static bool type_has(struct str type, const char *name)
{
	struct str each;
	size_t cursor = 0;

	if (json_type(type) == JSON_STRING)
		return json_is(type, str_from(name));
	while (json_next(type, &cursor, &each))
		if (json_is(each, str_from(name)))
			return true;
	return false;
}

bool schema_names(struct references *r, struct str schema, const char *type)
{
	struct str list = schema_alternatives(schema), each;
	size_t cursor = 0;

	if (type_has(JSON_GET(schema, "type"), type))
		return true;
	while (json_next(list, &cursor, &each))
		if (type_has(JSON_GET(schema_resolve_in(r, each), "type"), type))
			return true;
	return false;
}

bool schema_names_any(struct references *r, struct str schema)
{
	static const char *const types[] = TYPES;
	bool any = false;

	for (size_t i = 0; i < ARRAY_LEN(types) && !any; i++)
		any = schema_names(r, schema, types[i]);
	return any;
}

/* ---- one value ---- */

static bool is_whole(struct str number)
{
	int64_t value;

	if (json_i64(number, &value))
		return true;
	for (size_t i = 0; i < number.n; i++)
		if (number.p[i] != '-' && (number.p[i] < '0' || number.p[i] > '9'))
			return false;
	return true;
}

static bool fits_type(struct str value, struct str type)
{
	static const char *const names[] = {
		[JSON_ABSENT] = "",      [JSON_NULL] = "null",     [JSON_FALSE] = "boolean",
		[JSON_TRUE] = "boolean", [JSON_NUMBER] = "number", [JSON_STRING] = "string",
		[JSON_ARRAY] = "array",  [JSON_OBJECT] = "object",
	};

	return type_has(type, names[json_type(value)]) ||
	       (json_type(value) == JSON_NUMBER && is_whole(value) && type_has(type, "integer"));
}

static bool same_value(struct str a, struct str b)
{
	double x, y;

	return str_eq(a, b) || json_same_text(a, b) ||
	       (json_type(a) == JSON_NUMBER && json_double(a, &x) && json_type(b) == JSON_NUMBER &&
	        json_double(b, &y) && x <= y && x >= y);
}

int schema_wrong_word(struct str key, struct str value, struct str list, struct error *err)
{
	struct str typed = json_type(value) == JSON_STRING ? json_inner(value) : value, each;
	AUTO_NAMES known = {.count = 0};

	for (size_t cursor = 0; known.count < NAMES_MAX && json_next(list, &cursor, &each);)
		names_add(&known, json_type(each) == JSON_STRING ? json_inner(each) : each);
	error_set(err, FAIL_USAGE, "argument '%.*s' does not accept '%.*s'", STR_ARG(key),
	          STR_ARG(typed));
	return names_suggest(err, typed, known.text, known.count);
}

static int check_words(struct str key, struct str value, struct str schema, struct error *err)
{
	struct str list = JSON_GET(schema, "enum"), fixed = JSON_GET(schema, "const");
	struct str each;
	size_t cursor = 0;

	if (fixed.p && !same_value(value, fixed)) {
		return error_set(err, FAIL_USAGE, "argument '%.*s' can only be %.*s", STR_ARG(key),
		                 STR_ARG(fixed));
	}
	if (json_type(list) != JSON_ARRAY)
		return 0;
	while (json_next(list, &cursor, &each))
		if (same_value(value, each))
			return 0;
	return schema_wrong_word(key, value, list, err);
}

struct bound {
	const char *key, *what;
	int side;     /* -1: lower bound, 1: upper bound */
	bool allowed; /* the bound itself is allowed */
};

static const struct bound bounds[] = {
	{"minimum", "below the minimum", -1, true},
	{"maximum", "above the maximum", 1, true},
	{"exclusiveMinimum", "not above", -1, false},
	{"exclusiveMaximum", "not below", 1, false},
};

static int check_range(struct str key, struct str value, struct str schema, struct error *err)
{
	double v, bound;

	if (json_type(value) != JSON_NUMBER || !json_double(value, &v))
		return 0;
	for (size_t i = 0; i < ARRAY_LEN(bounds); i++) {
		const struct bound *b = &bounds[i];
		struct str limit = json_get(schema, str_from(b->key));

		if (json_type(limit) != JSON_NUMBER || !json_double(limit, &bound))
			continue;
		bool out = b->side < 0 ? v < bound : v > bound;
		bool at = !(v < bound) && !(v > bound);
		if (out || (at && !b->allowed)) {
			return error_set(err, FAIL_USAGE, "argument '%.*s' is %.*s, %s %.*s",
			                 STR_ARG(key), STR_ARG(value), b->what, STR_ARG(limit));
		}
	}
	return 0;
}

/* An unknown type name, for example from another schema language, allows everything. */
static bool is_known(struct str type)
{
	static const char *const types[] = TYPES;
	bool known = false;

	for (size_t i = 0; i < ARRAY_LEN(types) && !known; i++)
		known = type_has(type, types[i]);
	return known;
}

static int check_plain(struct str key, struct str value, struct str schema, struct error *err)
{
	struct str type = JSON_GET(schema, "type");

	if (is_known(type) && !fits_type(value, type)) {
		return error_set(err, FAIL_USAGE,
		                 "argument '%.*s' is %s, but the schema requires %.*s",
		                 STR_ARG(key), json_type_phrase(json_type(value)), STR_ARG(type));
	}
	return check_words(key, value, schema, err) || check_range(key, value, schema, err) ? -1
	                                                                                    : 0;
}

static bool is_null_type(struct str schema)
{
	return json_is(JSON_GET(schema, "type"), STR("null"));
}

/* If no alternative matches, the message of the last one that is not null is kept: most schemas
   have only one. */
static int check_alternatives(struct references *r, struct str list, struct str key,
                              struct str value, struct error *err)
{
	struct str each;
	struct error why = {0}, one;
	size_t cursor = 0;

	while (json_next(list, &cursor, &each)) {
		struct str schema = schema_resolve_in(r, each);

		if (!schema.p || check_plain(key, value, schema, &one) == 0)
			return 0;
		why = is_null_type(schema) && why.kind != FAIL_NONE ? why : one;
	}
	*err = why;
	return why.kind == FAIL_NONE ? 0 : -1;
}

int schema_check(struct references *r, struct str schema, struct str key, struct str value,
                 struct error *err)
{
	schema = schema_resolve_in(r, schema);
	if (check_plain(key, value, schema, err))
		return -1;
	return check_alternatives(r, schema_alternatives(schema), key, value, err);
}
