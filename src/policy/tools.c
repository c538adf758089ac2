/* Tools and their schemas: see tools.h. */
#include "policy/tools.h"

#include "base/mem.h"
#include "base/text.h"
#include "json/write.h"

#define NAMES_MAX 128

static struct str tool_name(struct str tool)
{
	struct str name = JSON_GET(tool, "name");

	return json_type(name) == JSON_STRING ? name : (struct str){NULL, 0};
}

struct str tool_find(struct str tools, struct str name)
{
	struct str tool;
	size_t cursor = 0;

	while (json_next(tools, &cursor, &tool)) {
		if (json_is(tool_name(tool), name)) {
			return tool;
		}
	}
	return (struct str){NULL, 0};
}

struct str tool_schema(struct str tool)
{
	struct str schema = JSON_GET(tool, "inputSchema");

	return json_type(schema) == JSON_OBJECT ? schema : (struct str){NULL, 0};
}

void tool_names(struct str tools, struct buf *out)
{
	struct buf names = BUF(BUF_MAX_MESSAGE);
	struct str tool;
	size_t cursor = 0;

	while (json_next(tools, &cursor, &tool)) {
		buf_text(&names, names.n ? ", " : "");
		buf_str(&names, json_inner(tool_name(tool)));
	}
	text_escape_cut(out, names.n ? buf_view(&names) : STR("none"), 200);
	buf_release(&names);
}

static int with_names(struct str tools, const char *what, struct error *err)
{
	struct buf names = BUF(BUF_MAX_SMALL);

	tool_names(tools, &names);
	error_set(err, FAIL_USAGE, "%s; the server's tools: %s", what, buf_cstr(&names));
	buf_release(&names);
	return -1;
}

/* The nearest of the raw, still escaped names (keys of an object, or names of tools). */
struct names {
	const char *text[NAMES_MAX];
	size_t count;
};

static void names_add(struct names *n, struct arena *a, struct str name)
{
	if (n->count < NAMES_MAX) {
		n->text[n->count++] = arena_str(a, name).p;
	}
}

static int not_found(struct names *known, const char *kind, struct str name,
                     struct error *err)
{
	const char *near = text_nearest(name, known->text, known->count);

	return error_set(err, FAIL_USAGE, "%s '%.*s'%s%s%s", kind, STR_ARG(name),
	                 near ? "; did you mean '" : "", near ? near : "",
	                 near ? "'?" : "");
}

int tool_require(struct str tools, struct str name, struct error *err)
{
	struct names known = {.count = 0};
	struct arena arena = {0};
	struct str tool;
	size_t cursor = 0;

	if (tool_find(tools, name).p) {
		return 0;
	}
	while (json_next(tools, &cursor, &tool)) {
		names_add(&known, &arena, json_inner(tool_name(tool)));
	}
	not_found(&known, "the server has no tool", name, err);
	arena_release(&arena);
	struct error first = *err;
	return with_names(tools, first.text, err);
}

int tool_only(struct str tools, struct str *name, struct error *err)
{
	struct str tool;
	size_t cursor = 0;

	if (json_count(tools) != 1) {
		return with_names(tools, "name the tool with --tool NAME", err);
	}
	json_next(tools, &cursor, &tool);
	*name = json_inner(tool_name(tool));
	return 0;
}

/* ---- the part of JSON Schema that tools use ---- */

static bool is_type(struct str value, struct str type)
{
	int64_t whole;

	switch (json_type(value)) {
	case JSON_NULL:
		return json_is(type, STR("null"));
	case JSON_TRUE:
	case JSON_FALSE:
		return json_is(type, STR("boolean"));
	case JSON_NUMBER:
		return json_is(type, STR("number")) ||
		       (json_is(type, STR("integer")) &&
		        (json_i64(value, &whole) || !memchr(value.p, '.', value.n)));
	case JSON_STRING:
		return json_is(type, STR("string"));
	case JSON_ARRAY:
		return json_is(type, STR("array"));
	case JSON_OBJECT:
		return json_is(type, STR("object"));
	case JSON_ABSENT:
		break;
	}
	return false;
}

static bool fits_type(struct str value, struct str type)
{
	struct str each;
	size_t cursor = 0;

	if (json_type(type) != JSON_ARRAY) {
		return type.p == NULL || is_type(value, type);
	}
	while (json_next(type, &cursor, &each)) {
		if (is_type(value, each)) {
			return true;
		}
	}
	return false;
}

/* Enums of tools hold plain words and numbers: spelled alike is equal. */
static bool in_enum(struct str value, struct str list)
{
	struct str each;
	size_t cursor = 0;

	while (json_next(list, &cursor, &each)) {
		if (str_eq(each, value)) {
			return true;
		}
	}
	return false;
}

static int check_enum(struct str key, struct str value, struct str list,
                      struct error *err)
{
	struct names known = {.count = 0};
	struct arena arena = {0};
	struct buf what = BUF(BUF_MAX_SMALL);
	struct str each;
	size_t cursor = 0;

	if (json_type(list) != JSON_ARRAY || in_enum(value, list)) {
		return 0;
	}
	while (json_next(list, &cursor, &each)) {
		names_add(&known, &arena,
		          json_type(each) == JSON_STRING ? json_inner(each) : each);
	}
	buf_printf(&what, "argument '%.*s' does not take", STR_ARG(key));
	not_found(&known, buf_cstr(&what),
	          json_type(value) == JSON_STRING ? json_inner(value) : value, err);
	arena_release(&arena);
	struct error first = *err;
	struct buf words = BUF(BUF_MAX_SMALL);
	text_escape_cut(&words, list, 120);
	error_set(err, FAIL_USAGE, "%s (allowed: %s)", first.text, buf_cstr(&words));
	buf_release(&words);
	buf_release(&what);
	return -1;
}

static int check_range(struct str key, struct str value, struct str schema,
                       struct error *err)
{
	double v, bound;

	if (json_type(value) != JSON_NUMBER || !json_double(value, &v)) {
		return 0;
	}
	struct str low = JSON_GET(schema, "minimum"), high = JSON_GET(schema, "maximum");
	bool below = json_double(low, &bound) && v < bound;
	bool above = json_double(high, &bound) && v > bound;
	if (below || above) {
		return error_set(err, FAIL_USAGE, "argument '%.*s' is %.*s, %s %.*s",
		                 STR_ARG(key), STR_ARG(value),
		                 below ? "below the minimum" : "above the maximum",
		                 STR_ARG(below ? low : high));
	}
	return 0;
}

static int check_value(struct str key, struct str value, struct str schema,
                       struct error *err)
{
	struct str type = JSON_GET(schema, "type");

	if (!fits_type(value, type)) {
		return error_set(
			err, FAIL_USAGE, "argument '%.*s' is %s, the schema wants %.*s",
			STR_ARG(key), json_type_name(json_type(value)), STR_ARG(type));
	}
	if (check_enum(key, value, JSON_GET(schema, "enum"), err)) {
		return -1;
	}
	return check_range(key, value, schema, err);
}

static int check_unknown_key(struct str key, struct str properties, struct error *err)
{
	struct names known = {.count = 0};
	struct arena arena = {0};
	struct json_member m;
	size_t cursor = 0;

	while (json_next_member(properties, &cursor, &m)) {
		names_add(&known, &arena, m.key);
	}
	not_found(&known, "the tool has no argument", key, err);
	arena_release(&arena);
	return -1;
}

static int check_given(struct str schema, struct str arguments, struct error *err)
{
	struct str properties = JSON_GET(schema, "properties");
	struct str extra = JSON_GET(schema, "additionalProperties");
	struct json_member m;
	size_t cursor = 0;

	while (json_next_member(arguments, &cursor, &m)) {
		struct str property = json_get(properties, m.key);

		if (property.p && check_value(m.key, m.value, property, err)) {
			return -1;
		}
		/* an open schema is only trusted to be open when it says so, or names no
		 * properties */
		bool open = json_type(extra) == JSON_TRUE ||
		            json_type(extra) == JSON_OBJECT ||
		            json_count(properties) == 0;
		if (!property.p && !open) {
			return check_unknown_key(m.key, properties, err);
		}
	}
	return 0;
}

int tool_check_arguments(struct str tool, struct str arguments, struct error *err)
{
	struct str schema = tool_schema(tool), key;
	size_t cursor = 0;

	if (json_type(arguments) != JSON_OBJECT) {
		return error_set(err, FAIL_USAGE, "the arguments are %s, not an object",
		                 json_type_name(json_type(arguments)));
	}
	if (!schema.p) {
		return 0;
	}
	if (check_given(schema, arguments, err)) {
		return -1;
	}
	struct str required = JSON_GET(schema, "required");
	while (json_next(required, &cursor, &key)) {
		if (!json_get(arguments, json_inner(key)).p) {
			return error_set(err, FAIL_USAGE,
			                 "the required argument %.*s is missing",
			                 STR_ARG(key));
		}
	}
	return 0;
}

/* ---- one word an action ---- */

int tool_action_property(struct str tool, struct str *key, struct str *schema,
                         struct error *err)
{
	struct str input = tool_schema(tool), properties = JSON_GET(input, "properties"),
		   only;
	struct str required = JSON_GET(input, "required");
	struct json_member m;
	size_t cursor = 0;

	if (json_count(required) == 1 && json_next(required, &cursor, &only)) {
		*key = json_inner(only);
		*schema = json_get(properties, *key);
		return 0;
	}
	if (json_count(required) == 0 && json_count(properties) == 1 &&
	    json_next_member(properties, &cursor, &m)) {
		*key = m.key;
		*schema = m.value;
		return 0;
	}
	return error_set(err, FAIL_USAGE,
	                 "--actions fills one argument, and the tool %.*s has %zu (%zu "
	                 "required): write "
	                 "a policy file with full calls",
	                 STR_ARG(tool_name(tool)), json_count(properties),
	                 json_count(required));
}

static bool wants(struct str schema, const char *type)
{
	struct str t = JSON_GET(schema, "type"), each;
	size_t cursor = 0;

	if (json_type(t) == JSON_STRING) {
		return json_is(t, str_from(type));
	}
	while (json_next(t, &cursor, &each)) {
		if (json_is(each, str_from(type))) {
			return true;
		}
	}
	return false;
}

int tool_action_arguments(struct str key, struct str schema, struct str action,
                          struct buf *out, struct error *err)
{
	struct json_fault fault;
	size_t start = out->n;

	/* a string unless the schema wants something else: a word like 3 or true may be
	 * meant as text */
	bool as_json = schema.p && !wants(schema, "string") && JSON_GET(schema, "type").p;
	if (as_json && json_validate(action, &fault)) {
		return error_set(
			err, FAIL_USAGE,
			"action '%.*s': the argument '%.*s' wants %.*s, and that is none",
			STR_ARG(action), STR_ARG(key), STR_ARG(JSON_GET(schema, "type")));
	}
	buf_text(out, "{\"");
	buf_str(out, key);
	buf_text(out, "\":");
	size_t value = out->n;
	if (as_json) {
		buf_str(out, action);
	} else {
		json_quote(out, action);
	}
	struct str made = {out->p + value, out->n - value};
	int failed = schema.p ? check_value(key, made, schema, err) : 0;
	if (failed) {
		error_wrap(err, "action '%.*s'", STR_ARG(action));
		buf_cut(out, start);
		return -1;
	}
	buf_char(out, '}');
	return 0;
}
