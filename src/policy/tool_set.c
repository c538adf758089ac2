/* Tools and their schemas: see tool_set.h. */
#include "policy/tool_set.h"

#include "base/names.h"
#include "base/text.h"
#include "json/arguments.h"
#include "json/schema.h"
#include "json/write.h"

#include <ctype.h>

static struct str tool_name(struct str tool)
{
	struct str name = JSON_GET(tool, "name");

	return json_type(name) == JSON_STRING ? name : STR_NONE;
}

struct str tool_bare_name(struct str name)
{
	struct str bare = name;

	if (str_starts(name, STR("functions.")))
		return str_skip(name, strlen("functions."));
	for (size_t i = 0; i < name.n; i++)
		if (name.p[i] == '.')
			bare = str_skip(name, i + 1);
	struct str space = {name.p, name.n - bare.n - (bare.n < name.n)};
	return str_eq(space, bare) ? bare : name;
}

void tool_names(struct str tools, struct buf *out)
{
	AUTO_BUF names = BUF(BUF_MAX_MESSAGE);
	struct str tool;
	size_t cursor = 0;

	while (json_next(tools, &cursor, &tool)) {
		buf_text(&names, names.n ? ", " : "");
		buf_str(&names, json_inner(tool_name(tool)));
	}
	text_escape_cut(out, names.n ? buf_view(&names) : STR("none"), 200);
}

static int with_names(struct str tools, const char *what, struct error *err)
{
	AUTO_BUF names = BUF(BUF_MAX_SMALL);

	tool_names(tools, &names);
	error_set(err, FAIL_USAGE, "%s; available: %s", what, buf_cstr(&names));
	return -1;
}

int tool_require(struct str tools, struct str name, struct error *err)
{
	AUTO_NAMES known = {.count = 0};
	struct str tool;
	size_t cursor = 0;

	if (tool_find(tools, name).p)
		return 0;
	while (json_next(tools, &cursor, &tool))
		names_add(&known, json_inner(tool_name(tool)));
	error_set(err, FAIL_USAGE, "the server has no tool '%.*s'", STR_ARG(name));
	return names_suggest(err, name, known.text, known.count);
}

int tool_only(struct str tools, struct buf *name, struct error *err)
{
	struct str tool = json_first(tools);

	if (json_count(tools) == 0)
		return error_set(err, FAIL_USAGE, "the server offers no tools");
	if (json_count(tools) != 1) {
		return with_names(
			tools, "the server has several tools: choose one with \1tool\2 NAME", err);
	}
	if (!tool_name(tool).p)
		return error_set(err, FAIL_USAGE, "the server's only tool has no name");
	json_decode(tool_name(tool), name);
	return 0;
}

/* ---- calls against the schema ---- */

/* The member whose key is equal when decoded. */
static struct str get_spelled(struct str object, struct str key)
{
	AUTO_BUF text = BUF(BUF_MAX_MESSAGE);

	json_decode_key(key, &text);
	return json_get(object, buf_view(&text));
}

int tool_check_arguments(struct str tool, struct str arguments, struct error *err)
{
	AUTO_ARENA arena = {0};

	return arguments_check(arguments_read(&arena, tool_schema(tool)), arguments, err);
}

/* ---- actions ---- */

/* The property with that name; error with the nearest name. */
static int named_property(struct str properties, const char *name, struct str *key,
                          struct str *schema, struct error *err)
{
	AUTO_NAMES known = {.count = 0};
	struct json_member m;
	size_t cursor = 0;

	while (json_next_member(properties, &cursor, &m)) {
		names_add(&known, m.key);
		if (json_key_is(m.key, str_from(name))) {
			*key = m.key;
			*schema = m.value;
			return 0;
		}
	}
	error_set(err, FAIL_USAGE, "\1argument\2: the tool has no argument '%s'", name);
	return names_suggest(err, str_from(name), known.text, known.count);
}

/* Appends a call with the required arguments, or else all, whose values are to be filled in. */
static void put_example(struct str tool, struct str properties, struct str required,
                        struct buf *out)
{
	struct json_member m;
	struct str name;
	bool all = json_count(required) == 0;

	buf_str(out, json_inner(tool_name(tool)));
	for (size_t cursor = 0; all && json_next_member(properties, &cursor, &m);)
		buf_printf(out, " %.*s=..", STR_ARG(m.key));
	for (size_t cursor = 0; json_next(required, &cursor, &name);)
		buf_printf(out, " %.*s=..", STR_ARG(json_inner(name)));
}

static int not_one_argument(struct str tool, struct str properties, struct str required,
                            struct error *err)
{
	AUTO_BUF example = BUF(BUF_MAX_SMALL), cut = BUF(BUF_MAX_SMALL);

	put_example(tool, properties, required, &example);
	text_escape_cut(&cut, buf_view(&example), 200);
	return error_set(
		err, FAIL_USAGE,
		"\1actions\2 fills one argument, but the tool %.*s has %zu (%zu required): "
		"%suse \1call\2 '%s'",
		STR_ARG(tool_name(tool)), json_count(properties), json_count(required),
		json_count(required) < 2 && json_count(properties)
			? "choose it with \1argument\2 NAME, or "
			: "",
		buf_cstr(&cut));
}

int tool_action_property(struct str tool, const char *name, struct str *key, struct str *schema,
                         struct error *err)
{
	struct str input = tool_schema(tool), properties = JSON_GET(input, "properties");
	struct str required = JSON_GET(input, "required");
	struct json_member m;
	size_t cursor = 0;

	if (name)
		return named_property(properties, name, key, schema, err);
	if (json_count(required) == 1 && json_first(required).p) {
		*key = json_inner(json_first(required));
		*schema = get_spelled(properties, *key);
		return 0;
	}
	if (json_count(required) == 0 && json_count(properties) == 1 &&
	    json_next_member(properties, &cursor, &m)) {
		*key = m.key;
		*schema = m.value;
		return 0;
	}
	return not_one_argument(tool, properties, required, err);
}

/* A schema shortened for a message. */
static struct str expected_type(struct str schema)
{
	struct str type = JSON_GET(schema, "type");

	return type.p ? type : schema_alternatives(schema);
}

/* An action is text unless the schema requires another type, because a word like 3 or true may
   be meant as text. An array, object or quoted string is JSON wherever the schema allows it. */
static bool is_meant_as_json(struct references *r, struct str schema, struct str action)
{
	bool any = !schema_names_any(r, schema), text = schema_names(r, schema, "string");

	if (!any && !text)
		return true;
	if (!json_is_valid(action))
		return false;
	switch (json_type(action)) {
	case JSON_ARRAY:
		return any || schema_names(r, schema, "array");
	case JSON_OBJECT:
		return any || schema_names(r, schema, "object");
	case JSON_STRING:
		return true;
	case JSON_ABSENT:
	case JSON_NULL:
	case JSON_FALSE:
	case JSON_TRUE:
	case JSON_NUMBER:
		break;
	}
	return false;
}

static int put_value(struct references *r, struct str key, struct str schema, struct str text,
                     struct buf *out, struct error *err)
{
	struct str resolved = schema_resolve_in(r, schema);
	bool as_json = is_meant_as_json(r, resolved, text);
	size_t start = out->n;

	if (as_json && !json_is_valid(text)) {
		return error_set(err, FAIL_USAGE, "the argument '%.*s' must be of type %.*s",
		                 STR_ARG(key), STR_ARG(expected_type(resolved)));
	}
	if (as_json)
		buf_str(out, text);
	else
		json_quote(out, text);
	struct str made = {out->p + start, out->n - start};
	if (schema_check(r, schema, key, made, err)) {
		buf_cut(out, start);
		return -1;
	}
	return 0;
}

int tool_value(struct str tool, struct str key, struct str schema, struct str text, struct buf *out,
               struct error *err)
{
	AUTO_ARENA arena = {0};
	struct references r;

	references_begin(&r, tool_schema(tool), &arena);
	int failed = put_value(&r, key, schema, text, out, err);

	return failed;
}

int tool_action_arguments(struct str tool, struct str key, struct str schema, struct str action,
                          struct buf *out, struct error *err)
{
	size_t start = out->n;

	buf_printf(out, "{\"%.*s\":", STR_ARG(key));
	if (tool_value(tool, key, schema, action, out, err)) {
		buf_cut(out, start);
		return error_wrap(err, "action '%.*s'", STR_ARG(action));
	}
	buf_char(out, '}');
	return 0;
}

/* ---- what a tool says about itself ---- */

/* ---- what could serve as state ---- */

/* A word of the name, set apart by a sign or by its capital: get_cart, todo-list, TodoRead. */
static bool has_word_at(struct str name, size_t at, struct str word)
{
	size_t end = at + word.n;

	if (!str_starts_nocase(str_skip(name, at), word))
		return false;
	return (!at || strchr("_-./", name.p[at - 1]) || isupper((unsigned char)name.p[at])) &&
	       (end == name.n || strchr("_-./", name.p[end]) ||
	        isupper((unsigned char)name.p[end]));
}

/* Would a person take the tool for one that reads? Such a name begins or ends with a word for reading; some
   are also nouns of what a call changes, as in clear_list. */
static bool is_named_reader(struct str name)
{
	static const char *const acting[] = {"add",   "clear",  "create", "delete", "drop",
	                                     "empty", "remove", "reset",  "set",    "update"};
	static const char *const reading[] = {"get",     "list",   "read",    "show",     "view",
	                                      "look",    "status", "fetch",   "describe", "inspect",
	                                      "observe", "state",  "snapshot"};

	for (size_t i = 0; i < ARRAY_LEN(acting); i++)
		if (has_word_at(name, 0, str_from(acting[i])))
			return false;
	for (size_t i = 0; i < ARRAY_LEN(reading); i++) {
		struct str word = str_from(reading[i]);

		if (has_word_at(name, 0, word) || has_word_at(name, name.n - word.n, word))
			return true;
	}
	return false;
}

const char *tool_why_state(const char *protocol, struct str tool, struct str name)
{
	struct str schema = tool_schema(tool);
	size_t required = json_count(JSON_GET(schema, "required"));
	struct str annotations = JSON_GET(tool, "annotations");
	struct str hint = JSON_GET(annotations, "readOnlyHint");
	bool destroys = json_type(JSON_GET(annotations, "destructiveHint")) == JSON_TRUE;

	if (strncmp(protocol, "mcp", 3) != 0)
		return NULL; /* only MCP servers are asked by a tool */
	if (json_type(hint) == JSON_TRUE) {
		return required ? "read-only; fill in the arguments"
		       : json_count(JSON_GET(schema, "properties"))
		               ? "read-only, no required arguments"
		               : "read-only, no arguments";
	}
	return !hint.p && !destroys && !required && is_named_reader(name)
	               ? "named like a tool that only reads, but not marked read-only: make sure that it "
	                 "changes nothing"
	               : NULL;
}

/* ---- arguments ---- */

static void put_words(struct str list, struct buf *out)
{
	struct str each;
	size_t cursor = 0, count = 0;

	while (json_next(list, &cursor, &each)) {
		buf_text(out, count++ ? "|" : "");
		json_text_or_json(each, out);
	}
}

static void put_range(struct str schema, struct buf *out)
{
	struct str least = JSON_GET(schema, "minimum"), most = JSON_GET(schema, "maximum");

	if (least.p || most.p)
		buf_printf(out, " %.*s..%.*s", STR_ARG(least), STR_ARG(most));
}

void tool_put_type(struct references *r, struct str schema, struct buf *out)
{
	struct str given = schema_resolve_in(r, schema), each;
	struct str list = schema_alternatives(given), type = JSON_GET(given, "type");
	size_t cursor = 0, count = 0;

	if (JSON_GET(given, "enum").p) {
		put_words(JSON_GET(given, "enum"), out);
		return;
	}
	if (JSON_GET(given, "const").p) {
		json_text_or_json(JSON_GET(given, "const"), out);
		return;
	}
	if (list.p) {
		while (json_next(list, &cursor, &each)) {
			struct str words = JSON_GET(schema_resolve_in(r, each), "enum");

			buf_text(out, count++ ? " or " : "");
			if (words.p) {
				put_words(words, out);
			} else {
				json_text_or_json(JSON_GET(schema_resolve_in(r, each), "type"),
				                  out);
			}
		}
		return;
	}
	if (json_type(type) == JSON_ARRAY)
		put_words(type, out);
	else if (type.p)
		json_text_or_json(type, out);
	else
		buf_text(out, "any");
	struct str items = JSON_GET(schema_resolve_in(r, JSON_GET(given, "items")), "type");
	if (items.p) {
		buf_text(out, " of ");
		json_text_or_json(items, out);
	}
	put_range(given, out);
}

bool tool_next_argument(struct str schema, size_t *cursor, struct tool_argument *out)
{
	struct json_member m;
	struct str each;
	size_t at = 0;

	if (!json_next_member(JSON_GET(schema, "properties"), cursor, &m))
		return false;
	*out = (struct tool_argument){.key = m.key,
	                              .schema = m.value,
	                              .description = JSON_GET(m.value, "description"),
	                              .fallback = JSON_GET(m.value, "default")};
	while (json_next(JSON_GET(schema, "required"), &at, &each))
		out->required |= json_type(each) == JSON_STRING && str_eq(json_inner(each), m.key);
	return true;
}
