/* JSON Pointer (RFC 6901) over slices, also through JSON held in strings. */
#include "json/scan.h"

#include "json/lex.h"

bool lex_token(struct str raw, bool wild, struct buf *out)
{
	for (size_t i = 0; i < raw.n; i++) {
		if (raw.p[i] != '~') {
			buf_char(out, raw.p[i]);
			continue;
		}
		char code = ++i < raw.n ? raw.p[i] : '\0';
		if (code != '0' && code != '1' && !(code == '2' && wild))
			return false;
		buf_char(out, "~/*"[code - '0']);
	}
	return true;
}

bool lex_index(struct str token, size_t *out)
{
	if (token.n == 0 || token.n > 18 || (token.n > 1 && token.p[0] == '0'))
		return false;
	*out = 0;
	for (size_t i = 0; i < token.n; i++) {
		if (!is_digit((unsigned char)token.p[i]))
			return false;
		*out = *out * 10 + (size_t)(token.p[i] - '0');
	}
	return true;
}

static struct str element(struct str array, struct str token)
{
	struct str e = STR_NONE;
	size_t index, cursor = 0;

	if (!lex_index(token, &index))
		return e;
	do {
		if (!json_next(array, &cursor, &e))
			return STR_NONE;
	} while (index-- > 0);
	return e;
}

static bool is_within(struct str s, const struct buf *b)
{
	return b->p && (uintptr_t)s.p >= (uintptr_t)b->p && (uintptr_t)s.p < (uintptr_t)b->p + b->n;
}

/* The string's text as a JSON value, decoded into scratch; absent if it is not JSON. The string
   itself may be in scratch. */
static struct str read_string(struct str string, struct buf *scratch)
{
	struct str inner = json_inner(string);
	size_t at = 0, n;
	struct json_fault fault;

	if (is_within(string, scratch))
		at = (size_t)(inner.p - scratch->p);
	else
		buf_clear(scratch);
	char *room = buf_room(scratch, inner.n);
	if (!room)
		return STR_NONE;
	if (at)
		inner.p = scratch->p + at;
	lex_decode(inner, room, &n);
	struct str text;
	if (lex_validate((struct str){room, n}, &text, &fault) != 0)
		return STR_NONE;
	scratch->n += n;
	scratch->p[scratch->n] = '\0';
	return text;
}

static struct str child(struct str value, struct str token, struct buf *scratch)
{
	while (json_type(value) == JSON_STRING)
		value = read_string(value, scratch);
	if (json_type(value) == JSON_OBJECT)
		return json_get(value, token);
	return json_type(value) == JSON_ARRAY ? element(value, token) : STR_NONE;
}

struct str json_point(struct str value, struct str pointer, struct buf *scratch)
{
	AUTO_BUF token = BUF(pointer.n);

	while (value.p && pointer.n > 0) {
		if (pointer.p[0] != '/') {
			value = STR_NONE;
			break;
		}
		struct str raw = lex_first_token(&pointer);
		buf_clear(&token);
		value = lex_token(raw, false, &token) ? child(value, buf_view(&token), scratch)
		                                      : STR_NONE;
	}
	return value;
}

struct str json_held(struct str value, struct buf *text)
{
	enum json_type type = json_type(value);

	if (type == JSON_OBJECT || type == JSON_ARRAY)
		return value;
	if (type != JSON_STRING || (value.p[1] != '{' && value.p[1] != '['))
		return STR_NONE;
	text->max = value.n;
	json_decode(value, text);
	return !json_is_valid(buf_view(text)) ? STR_NONE : buf_view(text);
}
