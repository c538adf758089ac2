/* The streaming writer: see write.h. */
#include "json/write.h"

#include "base/text.h"

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
	if (w->comma) {
		buf_char(w->out, ',');
	}
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

struct json_writer *jw_key(struct json_writer *w, const char *key)
{
	return jw_key_str(w, str_from(key));
}

struct json_writer *jw_key_str(struct json_writer *w, struct str key)
{
	assert(in_object(w));
	before_value(w);
	json_quote(w->out, key);
	buf_char(w->out, ':');
	w->comma = false;
	return w;
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

static void put_u64(struct buf *out, uint64_t v)
{
	char text[20], *p = text + sizeof(text);

	do {
		*--p = (char)('0' + v % 10);
		v /= 10;
	} while (v > 0);
	buf_add(out, p, (size_t)(text + sizeof(text) - p));
}

void jw_i64(struct json_writer *w, int64_t v)
{
	before_value(w);
	if (v < 0) {
		buf_char(w->out, '-');
	}
	put_u64(w->out, v < 0 ? 0 - (uint64_t)v : (uint64_t)v);
}

void jw_u64(struct json_writer *w, uint64_t v)
{
	before_value(w);
	put_u64(w->out, v);
}

void jw_count(struct json_writer *w, int64_t v)
{
	if (v < 0) {
		jw_null(w);
	} else {
		jw_i64(w, v);
	}
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
		if (text_double(text) == v) {
			break;
		}
	}
	buf_text(w->out, text);
}

void jw_bool(struct json_writer *w, bool v)
{
	jw_raw(w, v ? STR("true") : STR("false"));
}

void jw_null(struct json_writer *w)
{
	jw_raw(w, STR("null"));
}

void jw_raw(struct json_writer *w, struct str valid_json)
{
	before_value(w);
	if (valid_json.p) {
		buf_str(w->out, valid_json);
	} else {
		buf_text(w->out, "null");
	}
}
