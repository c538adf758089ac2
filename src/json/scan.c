/* Finds things in validated JSON: iteration, look-up, types. The strict half is validate.c;
   string.c, number.c and point.c interpret values. */
#include "json/scan.h"

#include "json/lex.h"

const unsigned char json_types[256] = {
	['n'] = JSON_NULL,   ['f'] = JSON_FALSE,  ['t'] = JSON_TRUE,   ['-'] = JSON_NUMBER,
	['0'] = JSON_NUMBER, ['1'] = JSON_NUMBER, ['2'] = JSON_NUMBER, ['3'] = JSON_NUMBER,
	['4'] = JSON_NUMBER, ['5'] = JSON_NUMBER, ['6'] = JSON_NUMBER, ['7'] = JSON_NUMBER,
	['8'] = JSON_NUMBER, ['9'] = JSON_NUMBER, ['"'] = JSON_STRING, ['['] = JSON_ARRAY,
	['{'] = JSON_OBJECT,
};

const char *json_type_phrase(enum json_type type)
{
	static const char *const phrases[] = {
		[JSON_ABSENT] = "absent",  [JSON_NULL] = "null",        [JSON_FALSE] = "false",
		[JSON_TRUE] = "true",      [JSON_NUMBER] = "a number",  [JSON_STRING] = "a string",
		[JSON_ARRAY] = "an array", [JSON_OBJECT] = "an object",
	};

	return phrases[type];
}

const char *json_type_name(enum json_type type)
{
	const char *phrase = json_type_phrase(type), *article = strchr(phrase, ' ');

	return article ? article + 1 : phrase;
}

const unsigned char *lex_string_rest(const unsigned char *p, const unsigned char *end)
{
	for (;;) {
		p = run_text(p, end);
		if (p == end)
			return p;
		if (*p == '"')
			return p + 1;
		p += end - p > 1 ? 2 : 1;
	}
}

const unsigned char *lex_container(const unsigned char *p, const unsigned char *end)
{
	size_t depth = 0;

	while (p < end) {
		if (*p == '"') {
			p = lex_string(p, end);
		} else {
			depth = *p == '{' || *p == '[' ? depth + 1 : depth - 1;
			p++;
			if (depth == 0)
				return p;
		}
		p = run_flat(p, end);
	}
	return p;
}

ALWAYS_INLINE const unsigned char *next_child(struct str value, size_t cursor, char opener)
{
	if (value.n == 0 || value.p[0] != opener)
		return NULL;
	const unsigned char *p = lex_begin(value) + cursor, *end = lex_end(value);
	if (cursor > 0) {
		p = lex_blanks(p, end);
		if (p == end || *p != ',')
			return NULL;
	}
	p = lex_blanks(p + 1, end);
	return p == end || *p == ']' || *p == '}' ? NULL : p;
}

bool json_next(struct str array, size_t *cursor, struct str *element)
{
	const unsigned char *p = next_child(array, *cursor, '[');

	if (!p)
		return false;
	const unsigned char *after = lex_value(p, lex_end(array));
	*element = lex_slice(p, after);
	*cursor = (size_t)(after - lex_begin(array));
	return true;
}

struct str json_first(struct str array)
{
	struct str first = STR_NONE;
	size_t cursor = 0;

	return json_next(array, &cursor, &first) ? first : STR_NONE;
}

struct str json_named(struct str array, struct str name)
{
	struct str each;

	for (size_t cursor = 0; json_next(array, &cursor, &each);)
		if (json_same_text(JSON_GET(each, "name"), name))
			return each;
	return STR_NONE;
}

ALWAYS_INLINE bool next_member(struct str object, size_t *cursor, struct json_member *member)
{
	const unsigned char *p = next_child(object, *cursor, '{');

	if (!p)
		return false;
	const unsigned char *end = lex_end(object), *after = lex_string(p, end);
	member->key = lex_slice(p + 1, after - 1);
	p = lex_blanks(lex_blanks(after, end) + 1, end);
	after = lex_value(p, end);
	member->value = lex_slice(p, after);
	member->type = (enum json_type)json_types[*p];
	*cursor = (size_t)(after - lex_begin(object));
	return true;
}

bool json_next_member(struct str object, size_t *cursor, struct json_member *member)
{
	return next_member(object, cursor, member);
}

bool json_next_string(struct str value, size_t *cursor, struct str *string)
{
	if (!value.n)
		return false;
	const unsigned char *p = lex_begin(value) + *cursor, *end = lex_end(value);
	while (p < end) {
		if (*p != '"') {
			p++;
			continue;
		}
		const unsigned char *after = lex_string(p, end), *next = lex_blanks(after, end);
		if (next == end || *next != ':') {
			*string = lex_slice(p, after);
			*cursor = (size_t)(after - lex_begin(value));
			return true;
		}
		p = after;
	}
	*cursor = value.n;
	return false;
}

struct str json_get(struct str object, struct str key)
{
	struct str found = STR_NONE;
	struct json_member m;

	for (size_t cursor = 0; next_member(object, &cursor, &m);)
		if (lex_key_is(m.key, key))
			found = m.value;
	return found;
}

/* Returns the end of the last member. Text may follow the object. */
static size_t pick(struct str object, const struct str *keys, size_t count, struct str *values)
{
	struct json_member m;
	size_t cursor = 0;

	memset(values, 0, count * sizeof(*values));
	while (next_member(object, &cursor, &m)) {
		for (size_t i = 0; i < count; i++)
			if (lex_key_is(m.key, keys[i]))
				values[i] = m.value;
	}
	return cursor;
}

void json_pick(struct str object, const struct str *keys, size_t count, struct str *values)
{
	pick(object, keys, count, values);
}

bool json_next_picked(struct str array, size_t *cursor, const struct str *keys, size_t count,
                      struct str *values)
{
	const unsigned char *p = next_child(array, *cursor, '['), *end = lex_end(array);

	if (!p)
		return false;
	size_t last = pick(lex_slice(p, end), keys, count, values);
	const unsigned char *after = last ? lex_blanks(p + last, end) + 1 : lex_value(p, end);
	*cursor = (size_t)(after - lex_begin(array));
	return true;
}

size_t json_count(struct str container)
{
	struct json_member m;
	size_t count = 0, cursor = 0;

	while (json_next(container, &cursor, &m.value))
		count++;
	while (next_member(container, &cursor, &m))
		count++;
	return count;
}

bool json_is_empty(struct str value)
{
	enum json_type type = json_type(value);
	struct json_member m = {.value = STR_NONE};
	size_t cursor = 0;

	return type == JSON_NULL || (type == JSON_STRING && !json_inner(value).n) ||
	       (type == JSON_ARRAY && !json_next(value, &cursor, &m.value)) ||
	       (type == JSON_OBJECT && !next_member(value, &cursor, &m));
}

struct str json_compact(struct arena *a, struct str value)
{
	const unsigned char *p = lex_begin(value), *end = lex_end(value);
	char *room = arena_new(a, value.n + 1);
	struct str compact = {room, 0};

	while (p < end) {
		const unsigned char *from = p;

		if (lex_is_blank(*p)) {
			p++;
			continue;
		}
		p = *p == '"' ? lex_string(p, end) : p + 1;
		memcpy(room + compact.n, from, (size_t)(p - from));
		compact.n += (size_t)(p - from);
	}
	return compact;
}

bool json_bool(struct str value, bool *out)
{
	enum json_type type = json_type(value);

	if (type != JSON_TRUE && type != JSON_FALSE)
		return false;
	*out = type == JSON_TRUE;
	return true;
}
