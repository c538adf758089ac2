/* Values and calls on one line: see brief.h. */
#include "report/brief.h"

#include "base/text.h"
#include "report/marks.h"

#define MOST_BYTES ((size_t)4000) /* longer than any terminal line */

static struct str beginning(struct str s)
{
	return (struct str){s.p, s.n < MOST_BYTES ? s.n : MOST_BYTES};
}

/* Recorded JSON may be pretty-printed: removes whitespace outside strings. */
static void add_json(struct buf *out, struct str json)
{
	struct buf folded = BUF(MOST_BYTES + 1);
	bool inside = false;

	json = beginning(json);
	for (size_t i = 0; i < json.n; i++) {
		inside ^= json.p[i] == '"';
		if (inside || json.p[i] != ' ') {
			buf_char(&folded, json.p[i]);
		}
		if (inside && json.p[i] == '\\' && i + 1 < json.n) {
			buf_char(&folded, json.p[++i]);
		}
	}
	marks_add(out, buf_view(&folded));
	buf_release(&folded);
}

static void add_decoded(struct buf *out, struct str string)
{
	struct buf text = BUF(BUF_MAX_MESSAGE);

	json_decode(string, &text);
	marks_add(out, beginning(buf_view(&text)));
	buf_release(&text);
}

/* True if the text without quotes could only be a string. */
static bool is_plain(struct str inner)
{
	static const char others[] = "_-+./:@";
	bool letters = false;

	for (size_t i = 0; i < inner.n; i++) {
		unsigned char c = (unsigned char)inner.p[i];
		bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c >= 0x80;

		if (!letter && (c < '0' || c > '9') && (!c || !strchr(others, c))) {
			return false;
		}
		letters |= letter;
	}
	return letters && !str_is(inner, "true") && !str_is(inner, "false") &&
	       !str_is(inner, "null");
}

void brief_value(struct buf *out, struct str value)
{
	if (json_type(value) == JSON_STRING && is_plain(json_inner(value))) {
		buf_str(out, beginning(json_inner(value)));
	} else {
		add_json(out, value);
	}
}

void brief_text(struct buf *out, struct str value)
{
	if (json_type(value) == JSON_STRING && json_inner(value).n) {
		add_decoded(out, value);
	} else {
		add_json(out, value);
	}
}

void brief_call(struct buf *out, const struct line *step)
{
	struct str arguments = line_arguments(step);
	struct json_member m;

	if (!line_has(step, KEY_TOOL_CALL)) {
		buf_text(out, "(no call)");
		return;
	}
	buf_str(out, line_tool_name(step));
	if (json_type(arguments) != JSON_OBJECT) {
		buf_char(out, ' ');
		add_json(out, arguments);
		return;
	}
	for (size_t cursor = 0; json_next_member(arguments, &cursor, &m) && out->n < MOST_BYTES;) {
		buf_char(out, ' ');
		buf_str(out, m.key);
		buf_char(out, '=');
		brief_value(out, m.value);
	}
}
