/* One message of a conversation with a model, as text. */
#include "base/text.h"
#include "report/outline.h"

void report_message(struct str message, struct style style, struct buf *out)
{
	struct json_member m;

	buf_text(out, style.color ? "\x1b[1m" : "");
	text_escape(out, json_inner(JSON_GET(message, "role")));
	buf_text(out, style.color ? "\x1b[0m\n" : "\n");
	for (size_t cursor = 0; json_next_member(message, &cursor, &m);) {
		if (str_is(m.key, "role")) {
			continue;
		}
		if (str_is(m.key, "content") && json_type(m.value) == JSON_STRING) {
			outline_lines(out, m.value, 4);
			continue;
		}
		outline_member(out, m.key, m.value, style);
	}
}
