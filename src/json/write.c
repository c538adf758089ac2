/* The streaming writer: see write.h. */
#include "json/write.h"

#include "base/text.h"
#include "json/lex.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <stdio.h>

void jw_init(struct json_writer *w, struct buf *out)
{
	*w = (struct json_writer){.out = out};
}

/* Writes the comma before a value, unless a key was just written. */
static void before_value(struct json_writer *w)
{
	if (w->comma)
		buf_char(w->out, ',');
	w->comma = true;
}

static bool in_object(const struct json_writer *w)
{
	return w->depth > 0 && (w->is_object >> (w->depth - 1) & 1);
}

static void open(struct json_writer *w, bool object)
{
	assert(w->depth < JSON_WRITE_DEPTH);
	before_value(w);
	uint64_t bit = UINT64_C(1) << w->depth++;
	w->is_object = object ? w->is_object | bit : w->is_object & ~bit;
	w->comma = false;
	buf_char(w->out, object ? '{' : '[');
}

void jw_object(struct json_writer *w)
{
	open(w, true);
}

struct json_writer jw_begin(struct buf *out)
{
	struct json_writer w = {.out = out};

	jw_object(&w);
	return w;
}

void jw_array(struct json_writer *w)
{
	open(w, false);
}

void jw_end(struct json_writer *w)
{
	assert(w->depth > 0);
	buf_char(w->out, in_object(w) ? '}' : ']');
	w->depth--;
	w->comma = true;
}

void jw_key(struct json_writer *w, const char *key)
{
	jw_key_str(w, str_from(key));
}

void jw_key_str(struct json_writer *w, struct str key)
{
	assert(in_object(w));
	before_value(w);
	json_quote(w->out, key);
	buf_char(w->out, ':');
	w->comma = false;
}

void jw_key_spelled(struct json_writer *w, struct str key)
{
	assert(in_object(w));
	before_value(w);
	buf_char(w->out, '"');
	buf_str(w->out, key);
	buf_text(w->out, "\":");
	w->comma = false;
}

void jw_str(struct json_writer *w, struct str s)
{
	if (!s.p) {
		jw_null(w);
		return;
	}
	before_value(w);
	json_quote(w->out, s);
}

void jw_text(struct json_writer *w, const char *s)
{
	jw_str(w, str_from(s));
}

static void put_digits(struct buf *out, uint64_t v)
{
	char text[20];
	size_t at = sizeof(text);

	do {
		text[--at] = (char)('0' + v % 10);
	} while (v /= 10);
	buf_add(out, text + at, sizeof(text) - at);
}

void jw_i64(struct json_writer *w, int64_t v)
{
	before_value(w);
	if (v < 0)
		buf_char(w->out, '-');
	put_digits(w->out, v < 0 ? 0 - (uint64_t)v : (uint64_t)v);
}

void jw_u64(struct json_writer *w, uint64_t v)
{
	before_value(w);
	put_digits(w->out, v);
}

/* 15 digits always survive, 17 always suffice; a subnormal number may need fewer than 15 */
void jw_double(struct json_writer *w, double v)
{
	char text[40];

	if (!isfinite(v)) {
		jw_null(w);
		return;
	}
	before_value(w);
	for (int digits = fabs(v) < DBL_MIN ? 1 : DBL_DIG; digits <= DBL_DECIMAL_DIG; digits++) {
		snprintf(text, sizeof(text), "%.*g", digits, v);
		if (text_double(text) == v)
			break;
	}
	buf_text(w->out, text);
}

struct str json_flag(int value)
{
	return value < 0 ? STR_NONE : value ? STR("true") : STR("false");
}

void jw_bool(struct json_writer *w, bool v)
{
	jw_raw(w, json_flag(v));
}

void jw_null(struct json_writer *w)
{
	jw_raw(w, STR("null"));
}

void jw_raw(struct json_writer *w, struct str valid_json)
{
	before_value(w);
	if (valid_json.p)
		buf_str(w->out, valid_json);
	else
		buf_text(w->out, "null");
}

#define PUT(name, type)                                                                            \
	void jw_put_##name(struct json_writer *w, const char *key, type v)                         \
	{                                                                                          \
		jw_key(w, key);                                                                    \
		jw_##name(w, v);                                                                   \
	}
PUT(str, struct str)
PUT(text, const char *)
PUT(i64, int64_t)
PUT(u64, uint64_t)
PUT(double, double)
PUT(raw, struct str)

#define PUT_EMPTY(name)                                                                            \
	void jw_put_##name(struct json_writer *w, const char *key)                                 \
	{                                                                                          \
		jw_key(w, key);                                                                    \
		jw_##name(w);                                                                      \
	}
PUT_EMPTY(object)
PUT_EMPTY(array)

void jw_put_member(struct json_writer *w, struct str key, struct str valid_json)
{
	jw_key_str(w, key);
	jw_raw(w, valid_json);
}

void jw_line(struct json_writer *w, struct buf *out, const char *type)
{
	jw_init(w, out);
	jw_object(w);
	jw_put_text(w, "type", type);
}

void jw_line_end(struct json_writer *w)
{
	jw_end(w);
	buf_char(w->out, '\n');
}

/* ---- templates ---- */

/* Writes the next argument, after its key if it has one; optional: not if it is absent or 0. */
static void put_argument(struct json_writer *w, struct str key, bool optional, char type,
                         va_list *args)
{
	struct str s = STR_NONE;
	int64_t number = 0;

	if (type == 'f') {
		if (key.p)
			jw_key_spelled(w, key);
		jw_double(w, va_arg(*args, double));
		return;
	}
	if (type == 'i' || type == 'c')
		number = va_arg(*args, int64_t);
	else if (type == 'd' || type == 'b')
		number = va_arg(*args, int);
	else
		s = type == 't' ? str_from(va_arg(*args, const char *)) : va_arg(*args, struct str);
	if (optional && !s.p && !number)
		return;
	if (key.p)
		jw_key_spelled(w, key);
	if (type == 'c' && number < 0)
		jw_null(w);
	else if (type == 'c' || type == 'i' || type == 'd')
		jw_i64(w, number);
	else if (type == 'b')
		jw_bool(w, number);
	else if (type == 'r')
		jw_raw(w, s);
	else
		jw_str(w, s);
}

/* Writes the value at the start of the template, and returns what follows it. */
static const char *put_form_value(struct json_writer *w, struct str key, const char *at,
                                  va_list *args)
{
	size_t n = 1;

	if (*at == '%') {
		bool optional = at[1] == '?';

		put_argument(w, key, optional, at[1 + optional], args);
		return at + 2 + optional;
	}
	if (key.p)
		jw_key_spelled(w, key);
	if (*at == '{' || *at == '[') {
		open(w, *at == '{');
	} else if (*at == '\'') {
		n = strcspn(at + 1, "'") + 2;
		jw_str(w, (struct str){at + 1, n - 2});
	} else {
		n = strcspn(at, ",]}");
		jw_raw(w, (struct str){at, n});
	}
	return at + n;
}

static void put_form(struct json_writer *w, const char *at, va_list *args)
{
	while (*at) {
		if (*at == ',' || *at == ' ') {
			at++;
			continue;
		}
		if (*at == '}' || *at == ']') {
			jw_end(w);
			at++;
			continue;
		}
		size_t n = strcspn(at, ":,'%{}[]");
		struct str key = n && at[n] == ':' ? (struct str){at, n} : STR_NONE;
		at = put_form_value(w, key, at + (key.p ? n + 1 : 0), args);
	}
}

void jw_pack(struct json_writer *w, const char *form, ...)
{
	va_list args;

	va_start(args, form);
	put_form(w, form, &args);
	va_end(args);
}

struct json_writer jw_form(struct buf *out, const char *form, ...)
{
	struct json_writer w = {.out = out};
	va_list args;

	va_start(args, form);
	put_form(&w, form, &args);
	va_end(args);
	return w;
}

void json_line(struct buf *out, const char *type, const char *form, ...)
{
	struct json_writer w;
	va_list args;

	jw_line(&w, out, type);
	va_start(args, form);
	put_form(&w, form, &args);
	va_end(args);
	jw_line_end(&w);
}

void json_vpack(struct buf *out, const char *form, va_list args)
{
	struct json_writer w;
	va_list rest;

	jw_init(&w, out);
	va_copy(rest, args);
	put_form(&w, form, &rest);
	va_end(rest);
}

void json_pack(struct buf *out, const char *form, ...)
{
	va_list args;

	va_start(args, form);
	json_vpack(out, form, args);
	va_end(args);
}
