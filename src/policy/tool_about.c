/* What a tool says about itself: see tool_about.h. */
#include "policy/tool_about.h"

#include "json/schema.h"
#include "policy/tools.h"

/* ---- what could serve as state ---- */

/* Names that a person would take for those of tools that read. */
static const char *const reading_verbs[] = {"get",    "list",     "read",     "show",    "view",
                                            "status", "state",    "describe", "inspect", "observe",
                                            "fetch",  "snapshot", "look"};

static bool is_named_reader(struct str name)
{
	for (size_t i = 0; i < ARRAY_LEN(reading_verbs); i++) {
		struct str verb = str_from(reading_verbs[i]);
		struct str rest = str_skip(name, verb.n);

		if (str_starts(name, verb) && (!rest.n || strchr("_-./", rest.p[0]) ||
		                               (rest.p[0] >= 'A' && rest.p[0] <= 'Z'))) {
			return true;
		}
	}
	return false;
}

const char *tool_why_state(const char *protocol, struct str tool, struct str name)
{
	struct str schema = tool_schema(tool);
	size_t required = json_count(JSON_GET(schema, "required"));
	struct str hint = JSON_GET(JSON_GET(tool, "annotations"), "readOnlyHint");

	if (strncmp(protocol, "mcp", 3) != 0) {
		return NULL; /* only MCP servers are asked by a tool */
	}
	if (json_type(hint) == JSON_TRUE) {
		return required ? "read-only; fill in the arguments"
		       : json_count(JSON_GET(schema, "properties"))
		               ? "read-only, no required arguments"
		               : "read-only, no arguments";
	}
	return !hint.p && !required && is_named_reader(name)
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

	if (least.p || most.p) {
		buf_printf(out, " %.*s..%.*s", STR_ARG(least), STR_ARG(most));
	}
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
	if (json_type(type) == JSON_ARRAY) {
		put_words(type, out);
	} else if (type.p) {
		json_text_or_json(type, out);
	} else {
		buf_text(out, "any");
	}
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

	if (!json_next_member(JSON_GET(schema, "properties"), cursor, &m)) {
		return false;
	}
	*out = (struct tool_argument){.key = m.key,
	                              .schema = m.value,
	                              .description = JSON_GET(m.value, "description"),
	                              .fallback = JSON_GET(m.value, "default")};
	while (json_next(JSON_GET(schema, "required"), &at, &each)) {
		out->required |= json_type(each) == JSON_STRING && str_eq(json_inner(each), m.key);
	}
	return true;
}
