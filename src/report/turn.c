/* One turn in full, for people. */
#include "base/text.h"
#include "report/report.h"

#define INDENT "    "

/* Values that are text are shown as text, line by line; JSON is shown as it was recorded.
 */
static void put_text(struct str string, struct buf *out)
{
	struct buf text = BUF(BUF_MAX_MESSAGE);
	struct str rest;

	json_decode(string, &text);
	rest = buf_view(&text);
	do {
		const char *end = rest.n ? memchr(rest.p, '\n', rest.n) : NULL;
		size_t n = end ? (size_t)(end - rest.p) : rest.n;

		buf_text(out, INDENT);
		text_escape(out, (struct str){rest.p, n});
		buf_char(out, '\n');
		rest = str_skip(rest, n + 1);
	} while (rest.n);
	buf_release(&text);
}

static void put_value(struct str value, size_t columns, struct buf *out)
{
	if (json_type(value) == JSON_STRING && json_has_escape(value)) {
		buf_char(out, '\n');
		put_text(value, out);
		return;
	}
	buf_text(out, value.n + 16 > columns ? "\n" INDENT : " ");
	text_escape(out, value.p ? value : STR("null"));
	buf_char(out, '\n');
}

static bool has_members(struct str value)
{
	return json_type(value) == JSON_OBJECT && json_count(value) > 0;
}

static void put_title(struct str title, struct style style, struct buf *out)
{
	buf_text(out, style.color ? "\x1b[1m" : "");
	text_escape(out, title);
	buf_text(out, style.color ? "\x1b[0m" : "");
}

void report_message(struct str message, struct style style, struct buf *out)
{
	struct json_member m;

	put_title(json_inner(JSON_GET(message, "role")), style, out);
	buf_char(out, '\n');
	for (size_t cursor = 0; json_next_member(message, &cursor, &m);) {
		if (str_is(m.key, "role")) {
			continue;
		}
		if (str_is(m.key, "content") && json_type(m.value) == JSON_STRING) {
			put_text(m.value, out);
			continue;
		}
		buf_text(out, "  ");
		text_escape(out, m.key);
		put_value(m.value, style.columns, out);
	}
}

void report_turn(const struct line *l, struct style style, struct buf *out)
{
	for (size_t i = 0; i < line_keys_count; i++) {
		const struct line_key *k = &line_keys[i];
		struct str value = l->value[k->key];
		struct json_member m;
		size_t cursor = 0;

		if (k->line != l->type || k->key == KEY_TYPE || !value.p) {
			continue;
		}
		put_title(str_from(k->name), style, out);
		if (!has_members(value)) {
			put_value(value, style.columns, out);
			continue;
		}
		buf_char(out, '\n');
		while (json_next_member(value, &cursor, &m)) {
			buf_text(out, "  ");
			text_escape(out, m.key);
			put_value(m.value, style.columns, out);
		}
	}
}
