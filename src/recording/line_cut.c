/* Truncates the longest value of a line: see line_cut.h. */
#include "recording/line_cut.h"

#include "base/text.h"
#include "json/write.h"

#include <stdio.h>

#define KEPT ((size_t)1 << 20) /* bytes: enough to identify the content */

size_t line_values_bytes(const struct line *l)
{
	size_t n = 0;

	for (size_t k = 0; k < KEY_COUNT; k++)
		n += l->value[k].n;
	return n;
}

void line_cut_whole(const struct line *l, enum key k, char detail[128])
{
	size_t count;
	const struct line_key *rows = line_rows(l->type, &count);

	for (size_t i = 0; i < count; i++)
		if (rows[i].key == k)
			snprintf(detail, 128, "{\"what\":\"%s\",\"kept\":0}", rows[i].name);
}

static const struct line_key *longest(const struct line *l)
{
	size_t count;
	const struct line_key *rows = line_rows(l->type, &count), *found = NULL;

	for (size_t i = 0; i < count; i++) {
		size_t n = l->value[rows[i].key].n;

		if (rows[i].types & (T_NULL | T_OPTIONAL) && n > 2 * KEPT &&
		    (!found || n > l->value[found->key].n)) {
			found = &rows[i];
		}
	}
	return found;
}

/* The start of a string's text, or of another value's JSON, as a JSON string. */
static struct str beginning(struct str value, struct arena *a)
{
	struct buf text = BUF(BUF_MAX_MESSAGE), string = BUF(BUF_MAX_MESSAGE);
	struct json_writer w;

	if (json_type(value) == JSON_STRING) {
		json_decode(value, &text);
		value = buf_view(&text);
	}
	jw_init(&w, &string);
	jw_str(&w, text_utf8_cut(value, KEPT));
	struct str kept = arena_str(a, buf_view(&string));
	buf_release(&text);
	buf_release(&string);
	return kept;
}

bool line_cut_longest(struct line *l, struct arena *a, char detail[128])
{
	const struct line_key *k = longest(l);

	if (!k)
		return false;
	struct str *value = &l->value[k->key];
	size_t before = value->n;
	bool string = k->types & T_STRING && k->key != KEY_STATE && k->key != KEY_RAW_BASE64;
	*value = string ? beginning(*value, a) : STR("null");
	snprintf(detail, 128, "{\"what\":\"%s\",\"kept\":%zu,\"of\":%zu}", k->name,
	         string ? value->n : 0, before);
	return true;
}
