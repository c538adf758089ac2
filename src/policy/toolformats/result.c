/* What a family's chat template determines: the form of a call's result, and the marks by which the
   template is recognized. See reader.h. */
#include "json/write.h"
#include "policy/toolformats/reader_internal.h"

/* ---- results ---- */

bool tool_format_has_role(const char *format)
{
	for (size_t i = 0; format && i < tool_formats_count; i++) {
		if (strcmp(tool_formats[i].name, format) == 0 && tool_formats[i].result.role) {
			return true;
		}
	}
	return false;
}

void tool_format_result(const char *format, struct str id, struct str name, struct str text,
                        struct buf *out)
{
	const struct tool_format *row = NULL;

	for (size_t i = 0; format && !row && i < tool_formats_count; i++) {
		if (strcmp(tool_formats[i].name, format) == 0 && tool_formats[i].result.open) {
			row = &tool_formats[i];
		}
	}
	buf_text(out, row ? row->result.open : "<tool_response>\n");
	if (row && row->result.named) {
		buf_str(out, row->result.by_id ? id : name);
		buf_text(out, row->result.named);
	}
	if (row && row->result.quoted) {
		json_quote(out, text);
	} else {
		buf_str(out, text);
	}
	buf_text(out, row ? row->result.close : "\n</tool_response>");
}

/* ---- templates ---- */

#define MARK_MIN 5 /* shorter marks are in every template */

/* The mark up to a line feed, which templates write as an escape. */
static size_t bytes_in(struct str template, const char *mark)
{
	char line[64];
	size_t n = mark ? strcspn(mark, "\n") : 0;

	if (n < MARK_MIN || n >= sizeof(line)) {
		return 0;
	}
	memcpy(line, mark, n);
	line[n] = '\0';
	return mark_at(NULL, template, line) < template.n ? n : 0;
}

/* Bytes of the marks that are there. */
static size_t bytes_of(struct str template, const char *const marks[MARKS_MAX])
{
	size_t sum = 0;

	for (size_t i = 0; i < MARKS_MAX && marks[i]; i++) {
		sum += bytes_in(template, marks[i]);
	}
	return sum;
}

/* 0: its calls are not in the template. */
static size_t likeness(struct str template, const struct tool_format *row)
{
	size_t open = bytes_of(template, row->open);
	size_t parameter = bytes_of(template, row->parameter);

	if (!open || row->weak || (row->parameter[0] && !parameter)) {
		return 0;
	}
	return open + parameter + bytes_of(template, row->close) +
	       bytes_of(template, row->name_end) + bytes_of(template, row->value_close) +
	       bytes_of(template, row->around) + bytes_of(template, row->section_end) +
	       bytes_in(template, row->key_end) + bytes_in(template, row->value_open) +
	       bytes_in(template, row->quote);
}

const char *tool_format_of_template(struct str template)
{
	const char *best = NULL;
	size_t most = 0;

	for (size_t i = 0; i < tool_formats_count; i++) {
		size_t n = likeness(template, &tool_formats[i]);

		if (n > most) {
			most = n;
			best = tool_formats[i].name;
		}
	}
	return best;
}
