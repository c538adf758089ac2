/* Indents JSON for display: see indent.h. */
#include "json/indent.h"

static void new_line(struct buf *out, size_t depth)
{
	buf_printf(out, "\n%*s", (int)(2 * depth), "");
}

/* The length of the string token at the start of the text. */
static size_t string_length(struct str text)
{
	size_t i = 1;

	while (i < text.n && text.p[i] != '"') {
		i += text.p[i] == '\\' ? 2 : 1;
	}
	return i < text.n ? i + 1 : text.n;
}

static bool is_empty(struct str text)
{
	return text.n > 1 && (text.p[1] == '}' || text.p[1] == ']');
}

static size_t put_token(struct buf *out, struct str text, size_t *depth)
{
	switch (text.p[0]) {
	case '"':
		buf_str(out, (struct str){text.p, string_length(text)});
		return string_length(text);
	case '{':
	case '[':
		if (is_empty(text)) {
			buf_str(out, (struct str){text.p, 2});
			return 2;
		}
		buf_char(out, text.p[0]);
		new_line(out, ++*depth);
		return 1;
	case '}':
	case ']':
		new_line(out, --*depth);
		buf_char(out, text.p[0]);
		return 1;
	case ',':
		buf_char(out, ',');
		new_line(out, *depth);
		return 1;
	case ':':
		buf_text(out, ": ");
		return 1;
	default:
		buf_char(out, text.p[0]);
		return 1;
	}
}

void json_indent(struct buf *out, struct str valid_json)
{
	size_t depth = 0;

	for (struct str rest = valid_json; rest.n;) {
		rest = str_skip(rest, put_token(out, rest, &depth));
	}
}
