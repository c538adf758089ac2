/* What formats share: finding marks, names and values. See format.h. */
#include "policy/toolformats/format.h"

#include "base/text.h"
#include "json/write.h"
#include "policy/tools.h"

#define FORMAT(id) extern const struct tool_format tool_format_##id;
#include "policy/toolformats/toolformats.def"
#undef FORMAT

const struct tool_format *const tool_formats[] = {
#define FORMAT(id) &tool_format_##id,
#include "policy/toolformats/toolformats.def"
#undef FORMAT
};
const size_t tool_formats_count = ARRAY_LEN(tool_formats);

void found_add(struct finder *f, struct found_call call)
{
	if (f->count < CHAT_CALLS_MAX) {
		f->calls[f->count++] = call;
	} else {
		call_note(f->notes, "too-many-calls");
	}
}

void found_bad(struct finder *f, struct str name, struct str text, const char *why)
{
	found_add(f,
	          (struct found_call){
			  .how = FOUND_BAD, .name = name, .arguments = text, .why = why});
}

void found_text(struct finder *f, struct str text)
{
	buf_str(&f->rest, text);
}

/* ---- places ---- */

size_t mark_at(struct str s, const char *mark)
{
	size_t n = strlen(mark);

	for (size_t i = 0; i + n <= s.n; i++) {
		const char *next = memchr(s.p + i, mark[0], s.n - n - i + 1);

		if (!next) {
			break;
		}
		i = (size_t)(next - s.p);
		if (memcmp(next, mark, n) == 0) {
			return i;
		}
	}
	return s.n;
}

bool cut_at(struct str s, const char *mark, struct str *before, struct str *rest)
{
	size_t at = mark_at(s, mark);

	*before = (struct str){s.p, at};
	*rest = str_skip(s, at == s.n ? s.n : at + strlen(mark));
	return at < s.n;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

struct str trimmed(struct str s)
{
	while (s.n && is_blank(s.p[0])) {
		s = str_skip(s, 1);
	}
	while (s.n && is_blank(s.p[s.n - 1])) {
		s.n--;
	}
	return s;
}

struct str leading_name(struct str s)
{
	size_t n = 0;

	while (n < s.n && (unsigned char)s.p[n] > ' ' &&
	       !strchr("<>[](){}\"'`,;=", s.p[n])) {
		n++;
	}
	return (struct str){s.p, n};
}

/* ---- values ---- */

/* What is nearly JSON, where that may be mended. */
static enum found_how mended_at(struct finder *f, struct str s, bool closed,
                                struct str *value, size_t *used)
{
	struct call_notes mended = {.count = 0};
	struct buf text = BUF(CHAT_REPLY_MAX);
	enum found_how how = FOUND_BAD;

	if (json_mend(s, &text, used, &mended)) {
		bool cut = !closed && call_noted(&mended, "missing-end");

		how = cut ? FOUND_CUT : FOUND_WHOLE;
		*value = arena_str(f->arena, buf_view(&text));
		for (size_t i = 0; !cut && i < mended.count; i++) {
			call_note(f->repairs, mended.words[i]);
		}
	}
	buf_release(&text);
	return how;
}

enum found_how json_at(struct finder *f, struct str s, bool closed, struct str *value,
                       size_t *used)
{
	struct json_fault fault;
	enum found_how how = FOUND_BAD;

	if (json_validate_first(s, used, &fault) == 0) {
		*value = trimmed((struct str){s.p, *used});
		return FOUND_WHOLE;
	}
	if (f->repair) {
		how = mended_at(f, s, closed, value, used);
	}
	return how == FOUND_BAD && fault.at >= s.n && !closed ? FOUND_CUT : how;
}

enum found_how json_all(struct finder *f, struct str s, bool closed, struct str *value)
{
	size_t used = 0;
	enum found_how how = json_at(f, s, closed, value, &used);

	if (how != FOUND_WHOLE || !trimmed(str_skip(s, used)).n) {
		return how;
	}
	/* some models close a string or an object once too often */
	struct str left = trimmed(str_skip(s, used));
	if (f->repair && left.n <= 2 && strspn(left.p, "\"}]") >= left.n) {
		call_note(f->repairs, "stray-end");
		return FOUND_WHOLE;
	}
	return FOUND_BAD;
}

void found_named(struct finder *f, struct str id, struct str name, struct str s,
                 bool closed)
{
	struct found_call call = {.id = id, .name = name, .arguments = s};
	struct str value;

	call.how = json_all(f, s, closed, &value);
	if (call.how == FOUND_WHOLE) {
		call.arguments = value;
	}
	call.why = "its arguments are not JSON";
	found_add(f, call);
}

/* ---- {"name":..,"arguments":..} ---- */

static struct str text_of(struct finder *f, struct str string)
{
	struct buf text = BUF(BUF_MAX_SMALL);

	if (json_type(string) != JSON_STRING) {
		return (struct str){NULL, 0};
	}
	json_decode(string, &text);
	struct str kept = arena_str(f->arena, buf_view(&text));
	buf_release(&text);
	return kept;
}

bool found_object(struct finder *f, struct str object)
{
	struct str inner = JSON_GET(object, "function"), arguments;
	struct str id = text_of(f, JSON_GET(object, "id"));

	if (json_type(inner) == JSON_OBJECT) {
		call_note(f->notes, "nested-function");
		object = inner;
	}
	struct str name = text_of(f, JSON_GET(object, "name"));
	if (!name.n) {
		return false;
	}
	arguments = JSON_GET(object, "arguments");
	if (!arguments.p) {
		arguments = JSON_GET(object, "parameters");
	}
	if (json_type(arguments) == JSON_STRING) {
		call_note(f->notes, "arguments-as-string");
		arguments = text_of(f, arguments);
	}
	found_add(f,
	          (struct found_call){.id = id,
	                              .name = name,
	                              .arguments = arguments.p ? arguments : STR("{}")});
	return true;
}

bool found_objects(struct finder *f, struct str value)
{
	struct str each;
	bool any = false;

	if (json_type(value) == JSON_OBJECT) {
		return found_object(f, value);
	}
	for (size_t cursor = 0; json_next(value, &cursor, &each);) {
		any |= json_type(each) == JSON_OBJECT && found_object(f, each);
	}
	return any;
}

/* ---- untyped values ---- */

void typed_begin(struct finder *f, struct str tool_name, struct typed *t)
{
	t->schema = tool_schema(tool_find(f->tools, tool_name));
	t->object = BUF(CHAT_REPLY_MAX);
	buf_char(&t->object, '{');
}

static struct str type_of(const struct typed *t, struct str key)
{
	struct str property = json_get(JSON_GET(t->schema, "properties"), key);
	struct str type = JSON_GET(property, "type");

	return type.p ? type : STR("\"string\"");
}

static bool type_is(struct str type, const char *word)
{
	struct str each;

	if (json_type(type) == JSON_STRING) {
		return json_is(type, str_from(word));
	}
	for (size_t cursor = 0; json_next(type, &cursor, &each);) {
		if (json_is(each, str_from(word))) {
			return true;
		}
	}
	return false;
}

/* Does JSON of that type stand there? A type that is not named takes any but a string. */
static bool is_typed(struct str type, struct str value)
{
	switch (json_type(value)) {
	case JSON_NULL:
		return type_is(type, "null") || !type_is(type, "string");
	case JSON_TRUE:
	case JSON_FALSE:
		return type_is(type, "boolean");
	case JSON_NUMBER:
		return type_is(type, "number") || type_is(type, "integer");
	case JSON_ARRAY:
		return type_is(type, "array");
	case JSON_OBJECT:
		return type_is(type, "object");
	case JSON_STRING:
	case JSON_ABSENT:
		break;
	}
	return false;
}

void typed_add(struct typed *t, struct str key, struct str text, bool is_text)
{
	struct str type = type_of(t, key), value = trimmed(text);
	struct json_fault fault;

	buf_text(&t->object, t->object.n > 1 ? "," : "");
	json_quote(&t->object, key);
	buf_char(&t->object, ':');
	if (!is_text && json_validate(value, &fault) == 0 && is_typed(type, value)) {
		buf_str(&t->object, value);
	} else if (!is_text && type_is(type, "boolean") &&
	           (str_is(value, "True") || str_is(value, "False"))) {
		buf_text(&t->object, value.p[0] == 'T' ? "true" : "false");
	} else {
		json_quote(&t->object, text);
	}
}

struct str typed_end(struct finder *f, struct typed *t)
{
	buf_char(&t->object, '}');
	struct str kept = arena_str(f->arena, buf_view(&t->object));
	buf_release(&t->object);
	return kept;
}
