/* Sorts changes of tools: see tool_changes.h. */
#include "compare/tool_changes.h"

#include "base/buf.h"
#include "json/canon.h"
#include "json/diff.h"

#define NAMES_MAX  256 /* renamed tools that are not reported as added, too */
#define TYPE_COUNT ((size_t)7)

const char *tool_change_class_name(enum tool_change_class c)
{
	static const char *const names[TOOL_CHANGE_CLASSES] = {"breaking", "compatible", "text"};

	return names[c];
}

/* ---- what a keyword's difference means ---- */

enum effect_of_change {
	ALWAYS_TEXT,
	ALWAYS_COMPATIBLE,
	PROPERTY,   /* removed: breaking */
	CONSTRAINT, /* added or changed: breaking */
	DEMANDS,    /* a list of which more is narrower */
	CHOICES,    /* a list of which less is narrower; added as a whole: narrower */
	TYPES,
	AT_LEAST, /* a higher number is narrower */
	AT_MOST,
};

/* JSON Schema's keywords; others are compatible. */
static const struct keyword {
	const char *name;
	enum effect_of_change effect;
	const char *breaks; /* what is said if it does */
} keywords[] = {
	{"description", ALWAYS_TEXT, NULL},
	{"title", ALWAYS_TEXT, NULL},
	{"examples", ALWAYS_TEXT, NULL},
	{"$schema", ALWAYS_TEXT, NULL},
	{"$id", ALWAYS_TEXT, NULL},
	{"$comment", ALWAYS_TEXT, NULL},
	{"additionalProperties", ALWAYS_TEXT, NULL},
	{"properties", PROPERTY, "an argument was removed"},
	{"required", DEMANDS, "an argument is required now"},
	{"type", TYPES, "a type is narrower"},
	{"enum", CHOICES, "an allowed value was removed"},
	{"anyOf", CHOICES, "an alternative was removed"},
	{"oneOf", CHOICES, "an alternative was removed"},
	{"const", CONSTRAINT, "only one value is allowed now"},
	{"items", CONSTRAINT, "elements are restricted"},
	{"pattern", CONSTRAINT, "a pattern is demanded"},
	{"multipleOf", CONSTRAINT, "a number is restricted"},
	{"uniqueItems", CONSTRAINT, "elements must be unique"},
	{"minimum", AT_LEAST, "the least value is higher"},
	{"exclusiveMinimum", AT_LEAST, "the least value is higher"},
	{"minLength", AT_LEAST, "the least length is higher"},
	{"minItems", AT_LEAST, "the least length is higher"},
	{"maximum", AT_MOST, "the highest value is lower"},
	{"exclusiveMaximum", AT_MOST, "the highest value is lower"},
	{"maxLength", AT_MOST, "the greatest length is lower"},
	{"maxItems", AT_MOST, "the greatest length is lower"},
};

static const struct keyword *keyword_of(struct str name)
{
	for (size_t i = 0; i < ARRAY_LEN(keywords); i++)
		if (str_is(name, keywords[i].name))
			return &keywords[i];
	return NULL;
}

static bool has_type(struct str types, const char *name)
{
	struct str each;

	if (json_type(types) == JSON_STRING)
		return json_is(types, str_from(name));
	for (size_t cursor = 0; json_next(types, &cursor, &each);)
		if (json_is(each, str_from(name)))
			return true;
	return false;
}

/* Does `now` allow every type that `before` allows? Absent: all. */
static bool types_cover(struct str before, struct str now)
{
	static const char *const all[TYPE_COUNT] = {"string", "number", "integer", "boolean",
	                                            "array",  "object", "null"};

	for (size_t i = 0; i < TYPE_COUNT && now.p; i++) {
		bool had = !before.p || has_type(before, all[i]);
		bool has = has_type(now, all[i]) ||
		           (i == 2 && has_type(now, "number")); /* an integer is a number */

		if (had && !has)
			return false;
	}
	return true;
}

static bool is_higher(struct str a, struct str b)
{
	double x, y;

	return !json_double(a, &x) || !json_double(b, &y) || x > y;
}

/* list: the difference is one element of the keyword's list. */
static bool breaks(enum effect_of_change effect, bool list, struct str before, struct str now)
{
	switch (effect) {
	case ALWAYS_TEXT:
	case ALWAYS_COMPATIBLE:
		return false;
	case PROPERTY:
		return !now.p;
	case CONSTRAINT:
		return now.p != NULL;
	case DEMANDS:
		return now.p && (list || json_count(now) > json_count(before));
	case CHOICES:
		return list ? !now.p || before.p : now.p != NULL;
	case TYPES:
		return list ? !now.p : !types_cover(before, now);
	case AT_LEAST:
		return now.p && (!before.p || is_higher(now, before));
	case AT_MOST:
		return now.p && (!before.p || is_higher(before, now));
	}
	return false;
}

/* ---- where in a schema ---- */

static struct str next_token(struct str *pointer)
{
	struct str token = str_skip(*pointer, 1);
	const char *slash = token.n ? memchr(token.p, '/', token.n) : NULL;

	token.n = slash ? (size_t)(slash - token.p) : token.n;
	*pointer = str_skip(*pointer, token.n + 1);
	return token;
}

/* The keyword that a pointer into a schema changes; *list: one element, or one property, of it. */
static struct str keyword_at(struct str pointer, bool *list)
{
	/* of schemas by name, or of a list of schemas */
	static const char *const holders[] = {
		"properties", "$defs", "definitions", "patternProperties",
		"anyOf",      "oneOf", "allOf",
	};
	struct str keyword = STR_NONE;

	*list = false;
	while (pointer.n) {
		bool holds = false;

		keyword = next_token(&pointer);
		*list = pointer.n > 0;
		if (str_is(keyword, "additionalProperties"))
			return keyword;
		for (size_t i = 0; i < ARRAY_LEN(holders) && !holds; i++)
			holds = str_is(keyword, holders[i]);
		if (holds)
			next_token(&pointer);
		else if (!str_is(keyword, "items"))
			return keyword;
	}
	return keyword;
}

/* ---- one tool ---- */

struct sorting {
	tool_change_fn *take;
	void *ctx;
	struct str before; /* the tool */
	struct buf pointer;
	size_t base;
};

static void report(struct sorting *s, enum tool_change_class class, const char *what,
                   struct str expected, struct str got)
{
	struct tool_change c = {class, what, buf_view(&s->pointer), expected, got};

	s->take(s->ctx, &c);
}

/* {"type":T} became {"anyOf":[{"type":T},..]}, as where an argument may be null from now on. */
static bool is_among_alternatives(struct sorting *s, struct str pointer, struct str list)
{
	AUTO_BUF scratch = BUF(BUF_MAX_MESSAGE);
	struct str parent = {pointer.p, pointer.n - strlen("/anyOf")}, each;
	struct str type = JSON_GET(json_point(s->before, parent, &scratch), "type");
	bool found = false;

	for (size_t cursor = 0; type.p && !found && json_next(list, &cursor, &each);)
		found = types_cover(type, JSON_GET(each, "type"));
	return found;
}

static void sort_in_schema(struct sorting *s, const struct json_difference *d, struct str inside)
{
	bool list;
	struct str keyword = keyword_at(inside, &list);
	const struct keyword *k = keyword_of(keyword);
	enum effect_of_change effect = k ? k->effect : ALWAYS_COMPATIBLE;
	bool widened = effect == CHOICES && !list && !d->before.p &&
	               is_among_alternatives(s, d->pointer, d->after);

	if (effect == ALWAYS_TEXT)
		report(s, TOOL_TEXT, "text", d->before, d->after);
	else if (!widened && breaks(effect, list, d->before, d->after))
		report(s, TOOL_BREAKING, k->breaks, d->before, d->after);
	else
		report(s, TOOL_COMPATIBLE, "the input schema", d->before, d->after);
}

static bool take_member(void *ctx, const struct json_difference *d)
{
	struct sorting *s = ctx;
	struct str rest = d->pointer, member = next_token(&rest);

	buf_cut(&s->pointer, s->base);
	buf_str(&s->pointer, d->pointer);
	if (str_is(member, "inputSchema") || str_is(member, "input_schema"))
		sort_in_schema(s, d, rest);
	else if (str_is(member, "annotations") || str_is(member, "outputSchema"))
		report(s, TOOL_COMPATIBLE, "about its replies", d->before, d->after);
	else
		report(s, TOOL_TEXT, "text", d->before, d->after);
	return true;
}

static bool is_set(void *ctx, struct str pointer, struct str *key)
{
	*key = STR("");
	return str_ends(pointer, STR("/required")) || str_ends(pointer, STR("/enum")) ||
	       str_ends(pointer, STR("/type"));
}

/* ---- lists ---- */

/* The only new tool with the schema of one that is gone; absent: none, or several. */
static struct str find_renamed(struct str gone, struct str before, struct str now)
{
	struct str schema = JSON_GET(gone, "inputSchema"), tool, found = STR_NONE;

	for (size_t cursor = 0; schema.p && json_next(now, &cursor, &tool);) {
		if (!json_named(before, JSON_GET(tool, "name")).p &&
		    json_equal(schema, JSON_GET(tool, "inputSchema"))) {
			if (found.p)
				return STR_NONE;
			found = tool;
		}
	}
	return found;
}

static void point_to(struct sorting *s, struct str tool)
{
	buf_set(&s->pointer, STR("/tools/"));
	buf_str(&s->pointer, json_inner(JSON_GET(tool, "name")));
	s->base = s->pointer.n;
}

void tool_changes(struct str before, struct str now, tool_change_fn *take, void *ctx)
{
	struct sorting s = {.take = take, .ctx = ctx, .pointer = BUF(BUF_MAX_MESSAGE)};
	const struct json_unordered how = {is_set, &s};
	struct str renamed[NAMES_MAX], tool;
	size_t count = 0, i;

	if (json_type(before) != JSON_ARRAY || json_type(now) != JSON_ARRAY)
		return;
	for (size_t cursor = 0; json_next(before, &cursor, &tool);) {
		struct str other = json_named(now, JSON_GET(tool, "name"));
		struct str moved = other.p ? STR_NONE : find_renamed(tool, before, now);

		point_to(&s, tool);
		s.before = tool;
		if (other.p) {
			json_diff_unordered(tool, other, &how, take_member);
		} else if (moved.p && count < NAMES_MAX) {
			buf_text(&s.pointer, "/name");
			renamed[count++] = moved;
			report(&s, TOOL_BREAKING, "renamed", JSON_GET(tool, "name"),
			       JSON_GET(moved, "name"));
		} else {
			report(&s, TOOL_BREAKING, "removed", tool, STR_NONE);
		}
	}
	for (size_t cursor = 0; json_next(now, &cursor, &tool);) {
		for (i = 0; i < count && renamed[i].p != tool.p; i++) {
		}
		if (i == count && !json_named(before, JSON_GET(tool, "name")).p) {
			point_to(&s, tool);
			report(&s, TOOL_COMPATIBLE, "added", STR_NONE, tool);
		}
	}
	buf_release(&s.pointer);
}
