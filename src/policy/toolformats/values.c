/* Converts text values to JSON of the type in the tool's schema. See reader_internal.h. */
#include "policy/toolformats/reader_internal.h"

#include "base/text.h"
#include "json/schema.h"
#include "json/write.h"
#include "policy/tool_set.h"

#define ALTERNATIVES_MAX 32 /* subschemas visited per schema */
#define PARAMETERS_MAX   256

/* ---- types ---- */

/* JSON Schema's names, and names from programming languages that servers use instead. */
static const struct {
	const char *name;
	unsigned type;
} type_names[] = {
	{"string", TYPE_STRING},   {"integer", TYPE_INTEGER}, {"number", TYPE_NUMBER},
	{"boolean", TYPE_BOOLEAN}, {"array", TYPE_ARRAY},     {"object", TYPE_OBJECT},
	{"null", TYPE_NULL},       {"str", TYPE_STRING},      {"int", TYPE_INTEGER},
	{"float", TYPE_NUMBER},    {"double", TYPE_NUMBER},   {"bool", TYPE_BOOLEAN},
	{"list", TYPE_ARRAY},      {"dict", TYPE_OBJECT},
};

static unsigned named_type(struct str name)
{
	for (size_t i = 0; i < ARRAY_LEN(type_names); i++)
		if (json_is(name, str_from(type_names[i].name)))
			return type_names[i].type;
	return 0;
}

static unsigned type_of(struct str value)
{
	int64_t whole;

	switch (json_type(value)) {
	case JSON_NULL:
		return TYPE_NULL;
	case JSON_TRUE:
	case JSON_FALSE:
		return TYPE_BOOLEAN;
	case JSON_NUMBER:
		return json_i64(value, &whole) ? TYPE_INTEGER : TYPE_NUMBER;
	case JSON_STRING:
		return TYPE_STRING;
	case JSON_ARRAY:
		return TYPE_ARRAY;
	case JSON_OBJECT:
		return TYPE_OBJECT;
	case JSON_ABSENT:
		break;
	}
	return 0;
}

static unsigned each_type(struct str list, unsigned (*of)(struct str))
{
	struct str each;
	unsigned types = 0;

	for (size_t cursor = 0; json_next(list, &cursor, &each);)
		types |= of(each);
	return types;
}

static unsigned own_types(struct str schema)
{
	struct str type = JSON_GET(schema, "type"), constant = JSON_GET(schema, "const");
	unsigned types = 0;

	types |= json_type(type) == JSON_ARRAY ? each_type(type, named_type) : named_type(type);
	types |= each_type(JSON_GET(schema, "enum"), type_of) | type_of(constant);
	if (!types && JSON_GET(schema, "items").p)
		types = TYPE_ARRAY;
	if (!types && JSON_GET(schema, "properties").p)
		types = TYPE_OBJECT;
	if (json_type(JSON_GET(schema, "nullable")) == JSON_TRUE)
		types |= TYPE_NULL;
	return types;
}

/* A queue of a schema and its subschemas, each visited once. */
struct schemas {
	struct str items[ALTERNATIVES_MAX];
	size_t count, next;
};

static void schemas_begin(struct schemas *q, struct str schema)
{
	q->count = q->next = 0;
	q->items[q->count++] = schema;
}

static bool schemas_next(struct schemas *q, struct str root, struct str *schema)
{
	static const char *const keys[] = {"anyOf", "oneOf", "allOf"};
	struct str each;

	if (q->next == q->count)
		return false;
	*schema = schema_resolve(root, q->items[q->next++]);
	for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
		struct str list = json_get(*schema, str_from(keys[i]));

		if (json_type(list) != JSON_ARRAY)
			continue;
		for (size_t cursor = 0;
		     q->count < ALTERNATIVES_MAX && json_next(list, &cursor, &each);) {
			q->items[q->count++] = each;
		}
	}
	return true;
}

unsigned schema_types(struct str root, struct str schema)
{
	struct schemas q;
	struct str each;
	unsigned types = 0;

	for (schemas_begin(&q, schema); schemas_next(&q, root, &each);)
		types |= own_types(each);
	return types;
}

struct str typed_property(struct str root, struct str schema, struct str key)
{
	struct schemas q;
	struct str each, found = STR_NONE, further = STR_NONE;

	for (schemas_begin(&q, schema); !found.p && schemas_next(&q, root, &each);) {
		struct str more = JSON_GET(each, "additionalProperties");

		found = json_get(JSON_GET(each, "properties"), key);
		further = json_type(more) == JSON_OBJECT ? more : further;
	}
	return found.p ? found : further;
}

/* ---- one value ---- */

/* 007 to 7: leading zeros are not valid JSON. */
static struct str without_zeros(struct str s)
{
	while (s.n > 1 && s.p[0] == '0' && s.p[1] >= '0' && s.p[1] <= '9')
		s = str_skip(s, 1);
	return s;
}

static bool put_number(unsigned types, struct str s, struct buf *out)
{
	int64_t whole;

	s = without_zeros(s);
	if (!json_is_valid(s) || json_type(s) != JSON_NUMBER ||
	    (!(types & TYPE_NUMBER) && !json_i64(s, &whole) && mark_at(NULL, s, ".") < s.n)) {
		return false;
	}
	buf_str(out, s);
	return true;
}

static bool put_boolean(unsigned types, struct str s, struct buf *out)
{
	bool numbers = !(types & (TYPE_STRING | TYPE_INTEGER | TYPE_NUMBER));

	if (str_eq_nocase(s, STR("true")) || (numbers && str_is(s, "1"))) {
		buf_text(out, "true");
		return true;
	}
	if (str_eq_nocase(s, STR("false")) || (numbers && str_is(s, "0"))) {
		buf_text(out, "false");
		return true;
	}
	return false;
}

/* A container of an allowed type: JSON, or text that can be repaired. */
static bool put_container(struct finder *f, unsigned types, struct str s, struct buf *out)
{
	struct call_notes repaired = {.count = 0};
	AUTO_BUF b = BUF(FOUND_TEXT_MAX);
	size_t used;

	if (!s.n || (s.p[0] != '{' && s.p[0] != '['))
		return false;
	bool good = json_is_valid(s);
	if (good) {
		buf_str(&b, s);
	} else if (f->conf->repair) {
		good = json_repair(s, &b, &used, &repaired) && !text_trim(str_skip(s, used)).n &&
		       !call_noted(&repaired, "missing-end");
	}
	good = good && (type_of(buf_view(&b)) & types);
	if (good) {
		buf_str(out, buf_view(&b));
		call_notes_add(f->repairs, &repaired);
	}
	return good;
}

/* [{\"id\": 1}]: escaped once too often, as if within a string. */
static bool put_escaped(struct finder *f, unsigned types, struct str s, struct buf *out)
{
	AUTO_BUF quoted = BUF(FOUND_TEXT_MAX);
	bool good = false;

	if (!f->conf->repair || mark_at(NULL, s, "\\\"") == s.n)
		return false;
	buf_char(&quoted, '"');
	buf_str(&quoted, s);
	buf_char(&quoted, '"');
	if (json_is_valid(buf_view(&quoted)))
		good = put_container(f, types, json_text(f->arena, buf_view(&quoted)), out);
	if (good)
		call_note(f->repairs, "double-encoded");
	return good;
}

/* JSON as is; false: not JSON, or a string. */
static bool put_json(struct str s, struct buf *out)
{
	if (!json_is_valid(s) || json_type(s) == JSON_STRING)
		return false;
	buf_str(out, s);
	return true;
}

/* Tries the schema's types, text last. */
static bool put_typed(struct finder *f, unsigned types, struct str s, struct buf *out)
{
	const unsigned numbers = TYPE_INTEGER | TYPE_NUMBER;
	const unsigned containers = TYPE_OBJECT | TYPE_ARRAY;

	if ((types & TYPE_NULL) && str_eq_nocase(s, STR("null"))) {
		buf_text(out, "null");
		return true;
	}
	return ((types & numbers) && put_number(types, s, out)) ||
	       ((types & TYPE_BOOLEAN) && put_boolean(types, s, out)) ||
	       ((types & containers) &&
	        (put_container(f, types, s, out) || put_escaped(f, types, s, out)));
}

void typed_value(struct finder *f, struct str root, struct str schema, struct str text,
                 enum hint hint, struct buf *out)
{
	unsigned types = schema_types(root, schema);
	struct str s = text_trim(text);
	/* no type in the schema: use the hint, or guess from the text */
	bool json = types ? !(types & TYPE_STRING)
	                  : hint == HINT_JSON || (schema.p && hint != HINT_TEXT);

	bool is_text = hint == HINT_TEXT && (types & TYPE_STRING);

	if (is_text || (!put_typed(f, types, s, out) && !(json && put_json(s, out))))
		json_quote(out, text);
}

/* ---- the object ---- */

struct str call_schema(const struct finder *f, struct str tool_name)
{
	struct str tool = tool_find(f->conf->tools, tool_name);

	tool = tool.p ? tool : tool_find(f->conf->tools, tool_bare_name(tool_name));
	return tool_schema(tool);
}

void typed_begin(struct finder *f, struct str tool_name, struct typed *t)
{
	*t = (struct typed){
		.f = f, .root = call_schema(f, tool_name), .object = BUF(FOUND_TEXT_MAX)};
	buf_char(&t->object, '{');
}

static bool has_key(const struct typed *t, struct str key)
{
	return map_find(&t->keys, map_hash(key), STR_NONE);
}

bool typed_expects(const struct typed *t, struct str key)
{
	bool named = JSON_GET(t->root, "properties").p;

	return (!named || typed_property(t->root, t->root, key).p) &&
	       !(t->count && has_key(t, key));
}

void typed_add(struct typed *t, struct str key, struct str text, enum hint hint)
{
	struct str schema = typed_property(t->root, t->root, key);

	if (!key.n) {
		t->why = "a parameter has no name";
		return;
	}
	if (t->count == PARAMETERS_MAX || (t->count && has_key(t, key))) {
		t->why = t->count == PARAMETERS_MAX ? "it has too many parameters"
		                                    : "a parameter is repeated";
		return;
	}
	map_add(&t->keys, arena_new(t->f->arena, sizeof(struct map_item)), map_hash(key));
	bool undeclared =
		t->declared_only && !schema.p && json_count(JSON_GET(t->root, "properties")) > 0;

	t->undeclared |= undeclared;
	if (!undeclared) {
		buf_text(&t->object, t->object.n > 1 ? "," : "");
		json_quote(&t->object, key);
		buf_char(&t->object, ':');
		typed_value(t->f, t->root, schema, text, hint, &t->object);
	}
	t->only_key = t->count ? STR_NONE : key;
	t->only_value = text;
	t->count++;
}

void typed_repaired(struct typed *t, const char *word, const char *why)
{
	t->repair = word;
	t->repair_why = why;
}

bool typed_full(const struct typed *t)
{
	struct str declared = JSON_GET(t->root, "properties");
	struct json_member m;
	size_t count = 0;

	for (size_t cursor = 0; json_next_member(declared, &cursor, &m); count++)
		if (!has_key(t, json_key_text(t->f->arena, m.key)))
			return false;
	return count > 0;
}

/* Does the tool have every member of the object as a parameter, or names none? */
static bool are_declared(const struct typed *t, struct str object)
{
	struct json_member m;

	if (!JSON_GET(t->root, "properties").p)
		return true;
	for (size_t cursor = 0; json_next_member(object, &cursor, &m);) {
		struct str key = json_key_text(t->f->arena, m.key);

		if (!typed_property(t->root, t->root, key).p)
			return false;
	}
	return true;
}

/* A single undeclared parameter "arguments" contains all arguments. */
static struct str unwrapped(struct typed *t)
{
	static const char *const wrappers[] = {"arguments", "parameters", "args",
	                                       "input",     "properties", "kwargs"};
	AUTO_BUF object = BUF(FOUND_TEXT_MAX);
	struct str inner = STR_NONE;

	for (size_t i = 0; t->only_key.p && i < ARRAY_LEN(wrappers); i++) {
		if (!str_is(t->only_key, wrappers[i]) ||
		    typed_property(t->root, t->root, t->only_key).p) {
			continue;
		}
		if (put_container(t->f, TYPE_OBJECT, text_trim(t->only_value), &object) &&
		    are_declared(t, buf_view(&object))) {
			call_note(t->f->notes, "wrapped-arguments");
			inner = arena_str(t->f->arena, buf_view(&object));
		}
	}
	return inner;
}

bool typed_required(const struct typed *t)
{
	struct str each;

	for (size_t cursor = 0; json_next(JSON_GET(t->root, "required"), &cursor, &each);)
		if (!has_key(t, json_text(t->f->arena, each)))
			return false;
	return true;
}

void typed_end(struct typed *t, struct str name, struct str source)
{
	struct str inner = unwrapped(t);

	if (t->undeclared && !inner.p && !t->why && !typed_required(t))
		t->why = "the tool has no parameter of that name"; /* it may be the missing one */
	buf_char(&t->object, '}');
	if (t->why) {
		found_bad(t->f, name, source, t->why);
	} else {
		found_add(t->f, (struct found_call){
					.name = name,
					.arguments = inner.p ? inner
		                                             : arena_str(t->f->arena,
		                                                         buf_view(&t->object))});
		if (t->undeclared && !inner.p) {
			found_repaired(t->f, t->f->count - 1, "undeclared-parameter",
			               "the tool has no parameter of that name");
		}
		if (t->repair)
			found_repaired(t->f, t->f->count - 1, t->repair, t->repair_why);
	}
	buf_release(&t->object);
}
