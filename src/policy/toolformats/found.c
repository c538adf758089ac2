/* Code shared by the grammars: collecting calls, JSON values, {"name":..,"arguments":..}. See
   reader_internal.h. */
#include "policy/toolformats/reader_internal.h"

#include "base/text.h"
#include "json/write.h"
#include "policy/tool_set.h"

void found_add(struct finder *f, struct found_call call)
{
	if (f->count < FOUND_CALLS_MAX)
		f->calls[f->count++] = call;
	else
		call_note(f->notes, "too-many-calls");
}

void found_bad(struct finder *f, struct str name, struct str text, const char *why)
{
	found_add(f, (struct found_call){
			     .how = FOUND_BAD, .name = name, .arguments = text, .why = why});
}

void found_cut(struct finder *f, struct str name, struct str text)
{
	found_add(f, (struct found_call){.how = FOUND_CUT, .name = name, .arguments = text});
}

void found_repaired(struct finder *f, size_t first, const char *word, const char *why)
{
	if (f->conf->repair) {
		call_note(f->repairs, word);
		return;
	}
	for (size_t i = first; i < f->count; i++) {
		if (f->calls[i].how == FOUND_WHOLE) {
			f->calls[i].how = FOUND_BAD;
			f->calls[i].why = why;
		}
	}
}

bool is_offered(const struct finder *f, struct str name)
{
	return name.n && tool_find(f->conf->tools, name).p;
}

/* ---- values ---- */

enum ending {
	ENDS_TEXT,  /* the reply itself */
	ENDS_CLOSE, /* the call's end mark: a bracket missing before it can be repaired */
	ENDS_NEXT,  /* another call */
};

static enum ending ending_of(const struct tool_format *row, struct str s, size_t end)
{
	if (end == s.n)
		return ENDS_TEXT;
	return mark_here(str_skip(s, end), row->close) ? ENDS_CLOSE : ENDS_NEXT;
}

/* Does an object within the arguments have several members? A bracket missing at the end of the call may
   then be missing before one of them: what belongs to which object is not certain. level: of
   the objects within the arguments. */
static bool has_inner_members(struct str json, int level)
{
	char open[REPAIR_DEPTH_MAX] = {0};
	int depth = 0, objects = 0;

	for (size_t i = 0; i < json.n; i++) {
		char c = json.p[i];

		if (c == '"') {
			for (i++; i < json.n && json.p[i] != '"'; i++)
				i += json.p[i] == '\\';
		} else if (c == '{' || c == '[') {
			open[depth++] = c;
			objects += c == '{';
		} else if (c == '}' || c == ']') {
			depth--;
			objects -= c == '}';
		} else if (c == ',' && open[depth - 1] == '{' && objects >= level) {
			return true;
		}
	}
	return false;
}

/* Repairs a value that is almost JSON, if repairs are allowed. */
static enum found_how repaired_at(struct finder *f, const struct tool_format *row, struct str s,
                                  enum ending ending, struct str *value, size_t *used)
{
	struct call_notes repaired = {.count = 0};
	AUTO_BUF text = BUF(FOUND_TEXT_MAX);
	enum found_how how = FOUND_BAD;

	if (json_repair(s, &text, used, &repaired)) {
		bool open_end = call_noted(&repaired, "missing-end");
		int level = row->grammar == grammar_calls ? 3 : 2;
		bool slip = ending == ENDS_CLOSE && !call_noted(&repaired, "missing-quote") &&
		            !(open_end && has_inner_members(buf_view(&text), level));

		how = !open_end || slip ? FOUND_WHOLE : ending == ENDS_TEXT ? FOUND_CUT : FOUND_BAD;
		*value = arena_str(f->arena, buf_view(&text));
		if (how == FOUND_WHOLE)
			call_notes_add(f->repairs, &repaired);
	}
	return how;
}

/* {..}, "key": a bracket too many, or a value that is not the end of what it belongs to. */
static bool goes_on(struct str after)
{
	after = skip_whitespace(after);
	return after.n && after.p[0] == ',' &&
	       str_starts(skip_whitespace(str_skip(after, 1)), STR("\""));
}

enum found_how json_at(struct finder *f, const struct tool_format *row, struct str s,
                       struct str *value, size_t *used)
{
	struct json_fault fault;
	enum found_how how = FOUND_BAD;

	if (json_validate_first(s, used, &fault) == 0) {
		*value = text_trim((struct str){s.p, *used});
		return goes_on(str_skip(s, *used)) ? FOUND_BAD : FOUND_WHOLE;
	}
	struct str body = {s.p, call_end(f, row, s)};
	enum ending ending = ending_of(row, s, body.n);
	if (f->conf->repair)
		how = repaired_at(f, row, body, ending, value, used);
	return how == FOUND_BAD && fault.at >= s.n && ending == ENDS_TEXT ? FOUND_CUT : how;
}

size_t json_arguments(struct finder *f, const struct tool_format *row, struct str s,
                      struct found_call *call)
{
	struct str value;
	size_t used = 0;

	call->how = json_at(f, row, s, &value, &used);
	if (call->how == FOUND_WHOLE) {
		call->arguments = value;
		return used;
	}
	used = call_end(f, row, s);
	call->arguments = text_trim((struct str){s.p, used});
	call->why = "its arguments are not valid JSON";
	return used;
}

bool begins_json(struct str s)
{
	return s.n && (s.p[0] == '{' || s.p[0] == '[');
}

bool skip_fence(struct str *s)
{
	struct str inside = skip_whitespace(*s);

	if (!str_starts(inside, STR("```")))
		return false;
	inside = str_skip(inside, 3);
	while (inside.n && ((inside.p[0] >= 'a' && inside.p[0] <= 'z') || inside.p[0] == '_'))
		inside = str_skip(inside, 1);
	*s = skip_whitespace(inside);
	return true;
}

/* ---- {"name":..,"arguments":..} ---- */

static const char *const name_keys[] = {"name", "tool_name", "tool", "function", "function_name"};
static const char *const argument_keys[] = {"arguments", "parameters", "args", "input",
                                            "tool_input"};
static const char *const other_keys[] = {"id", "tool_call_id", "call_id", "index", "type"};

static struct str any_of(struct str object, const char *const *keys, size_t count)
{
	struct str value = STR_NONE;

	for (size_t i = 0; i < count && !value.p; i++)
		value = json_get(object, str_from(keys[i]));
	return value;
}

struct str call_name(struct finder *f, struct str object)
{
	if (json_type(object) != JSON_OBJECT)
		return STR_NONE;
	return json_text(f->arena, any_of(object, name_keys, ARRAY_LEN(name_keys)));
}

static bool is_one_of(struct str key, const char *const *keys, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (json_key_is(key, str_from(keys[i])))
			return true;
	return false;
}

static bool is_of_call(struct str key)
{
	return is_one_of(key, name_keys, ARRAY_LEN(name_keys)) ||
	       is_one_of(key, argument_keys, ARRAY_LEN(argument_keys)) ||
	       is_one_of(key, other_keys, ARRAY_LEN(other_keys));
}

static bool has_others(struct str object)
{
	struct json_member m;

	for (size_t cursor = 0; json_next_member(object, &cursor, &m);)
		if (!is_of_call(m.key))
			return true;
	return false;
}

/* Is it the repeated definition of a tool, whose "parameters" are a schema? */
static bool is_definition(const struct finder *f, struct str name, struct str arguments)
{
	struct str schema = tool_schema(tool_find(f->conf->tools, name));

	return json_is(JSON_GET(arguments, "type"), STR("object")) &&
	       json_type(JSON_GET(arguments, "properties")) == JSON_OBJECT &&
	       !JSON_GET(JSON_GET(schema, "properties"), "properties").p;
}

/* Are there different arguments under two keys? */
static bool has_two(struct str object, struct str arguments)
{
	for (size_t i = 0; i < ARRAY_LEN(argument_keys); i++) {
		struct str other = json_get(object, str_from(argument_keys[i]));

		if (json_type(other) == JSON_OBJECT && !str_eq(other, arguments))
			return true;
	}
	return false;
}

/* Is an argument of the tool a member of the call itself? */
static bool has_argument_beside(const struct finder *f, struct str object, struct str name)
{
	struct str root = tool_schema(tool_find(f->conf->tools, name));
	struct json_member m;

	for (size_t cursor = 0; json_next_member(object, &cursor, &m);) {
		if (!is_of_call(m.key) &&
		    json_get(JSON_GET(root, "properties"), json_key_text(f->arena, m.key)).p) {
			return true;
		}
	}
	return false;
}

/* Returns the reason if the object's other members make it unlikely to be a call. */
static const char *unlikely_reason(const struct finder *f, struct str object, struct str name,
                                   struct str arguments)
{
	if (is_definition(f, name, arguments))
		return "this is a tool's definition, not a call";
	if (has_two(object, arguments))
		return "it has arguments under two keys";
	if (!arguments.p && has_others(object))
		return "its arguments are not under a known key";
	if (has_argument_beside(f, object, name))
		return "an argument is outside its arguments object";
	return NULL;
}

/* Without marks, an object only counts if it cannot be anything else. */
static bool is_plain_call(const struct finder *f, struct str object, struct str name,
                          struct str arguments)
{
	return is_offered(f, name) && arguments.p && !has_others(object) &&
	       !is_definition(f, name, arguments);
}

/* {"NAME":{..}} */
static bool found_keyed(struct finder *f, struct str object)
{
	struct json_member m;
	size_t before = f->count;

	for (size_t cursor = 0; json_next_member(object, &cursor, &m);) {
		if (m.type == JSON_OBJECT) {
			found_add(f, (struct found_call){.name = json_key_text(f->arena, m.key),
			                                 .arguments = m.value});
		}
	}
	return f->count > before;
}

/* Converts "2" to 2 where the tool's schema requires a number. */
static struct str typed_members(struct finder *f, struct str name, struct str object)
{
	struct str root = tool_schema(tool_find(f->conf->tools, name));
	struct buf out = BUF(FOUND_TEXT_MAX);
	struct json_member m;

	for (size_t cursor = 0; json_next_member(object, &cursor, &m);) {
		struct str key = json_key_text(f->arena, m.key);

		buf_text(&out, out.n ? "," : "{");
		json_quote(&out, key);
		buf_char(&out, ':');
		if (m.type == JSON_STRING) {
			typed_value(f, root, typed_property(root, root, key),
			            json_text(f->arena, m.value), HINT_TEXT, &out);
		} else {
			buf_str(&out, m.value);
		}
	}
	buf_text(&out, out.n ? "}" : "{}");
	return buf_keep(&out, f->arena);
}

static bool found_object(struct finder *f, const struct tool_format *row, struct str object)
{
	struct str inner = JSON_GET(object, "function");
	struct str id = json_text(f->arena, any_of(object, other_keys, 3));

	if (json_type(inner) == JSON_OBJECT) {
		call_note(f->notes, "nested-function");
		object = inner;
	}
	struct str name = call_name(f, object);
	struct str arguments = any_of(object, argument_keys, ARRAY_LEN(argument_keys));
	if (!name.n || (f->bare && !is_plain_call(f, object, name, arguments)))
		return !f->bare && row->keyed && found_keyed(f, object);
	const char *why = unlikely_reason(f, object, name, arguments);
	if (why) {
		found_bad(f, name, object, why);
		return true;
	}
	if (json_type(arguments) == JSON_STRING) {
		call_note(f->notes, "arguments-as-string");
		arguments = json_text(f->arena, arguments);
	}
	if (row->typed_json && json_type(arguments) == JSON_OBJECT)
		arguments = typed_members(f, name, arguments);
	found_add(f, (struct found_call){.id = id, .name = name, .arguments = arguments});
	return true;
}

bool found_objects(struct finder *f, const struct tool_format *row, struct str value)
{
	struct str each, list = JSON_GET(value, "tool_calls");
	bool any = false;

	list = json_type(list) == JSON_ARRAY ? list : value;
	if (json_type(list) == JSON_OBJECT)
		return found_object(f, row, list);
	for (size_t cursor = 0; json_next(list, &cursor, &each);) {
		bool call = json_type(each) == JSON_OBJECT && found_object(f, row, each);

		if (!call && f->bare)
			return false;
		any |= call;
	}
	return any;
}
