/* Comma-separated values: see csv.h. */
#include "report/csv.h"

#include "json/scan.h"

void csv_field(struct buf *out, struct str text)
{
	bool quoted = text.p && text.n == 0;

	for (size_t i = 0; text.p && i < text.n && !quoted; i++) {
		quoted = text.p[i] == '"' || text.p[i] == ',' || text.p[i] == '\n' ||
		         text.p[i] == '\r';
	}
	if (out->n && out->p[out->n - 1] != '\n')
		buf_char(out, ',');
	if (!quoted) {
		buf_str(out, text);
		return;
	}
	buf_char(out, '"');
	for (size_t i = 0; i < text.n; i++) {
		buf_text(out, text.p[i] == '"' ? "\"" : "");
		buf_char(out, text.p[i]);
	}
	buf_char(out, '"');
}

void csv_line(struct buf *out, struct str object, bool title)
{
	struct json_member m;

	for (size_t cursor = 0; json_next_member(object, &cursor, &m);) {
		AUTO_BUF text = BUF(BUF_MAX_MESSAGE);

		if (str_is(m.key, "type"))
			continue;
		json_text_or_json(m.value, &text);
		csv_field(out, title ? m.key : json_is_null(m.value) ? STR_NONE : buf_view(&text));
	}
	buf_char(out, '\n');
}
