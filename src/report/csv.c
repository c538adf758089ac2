/* Comma-separated values: see csv.h. */
#include "report/csv.h"

#include "json/write.h"

static void separate(struct buf *out)
{
	if (out->n && out->p[out->n - 1] != '\n')
		buf_char(out, ',');
}

/* An empty first field is quoted: otherwise it would not show up. */
void csv_field(struct buf *out, struct str text)
{
	bool quoted = text.n == 0;

	for (size_t i = 0; i < text.n && !quoted; i++) {
		quoted = text.p[i] == '"' || text.p[i] == ',' || text.p[i] == '\n' ||
		         text.p[i] == '\r';
	}
	separate(out);
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

void csv_number(struct buf *out, bool known, double value)
{
	struct json_writer w;
	AUTO_BUF text = BUF(BUF_MAX_SMALL);

	separate(out);
	if (known) {
		jw_init(&w, &text);
		jw_double(&w, value);
		buf_str(out, buf_view(&text));
	}
}
