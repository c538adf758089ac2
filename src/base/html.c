/* Summarizes web pages: see html.h. */
#include "base/html.h"

#include "base/text.h"

#include <ctype.h>

#define TITLE_COLUMNS 80

/* Skips whitespace, a byte order mark and an XML declaration before the document. */
static struct str document(struct str body)
{
	body = str_starts(body, STR("\xef\xbb\xbf")) ? str_skip(body, 3) : body;
	while (body.n && isspace((unsigned char)body.p[0]))
		body = str_skip(body, 1);
	return body;
}

bool html_is_page(struct str body)
{
	body = document(body);
	return str_starts_nocase(body, STR("<!doctype html")) ||
	       str_starts_nocase(body, STR("<html")) || str_starts_nocase(body, STR("<head"));
}

static struct str title_of(struct str body)
{
	while (body.n && !str_starts_nocase(body, STR("<title>")))
		body = str_skip(body, 1);
	body = str_skip(body, strlen("<title>"));
	size_t n = 0;
	while (n < body.n && body.p[n] != '<')
		n++;
	return text_trim((struct str){body.p, n});
}

void html_summary(struct str body, struct buf *out)
{
	struct str title = title_of(body);

	buf_text(out, "a web page");
	if (title.n) {
		buf_text(out, " (\"");
		text_escape_cut(out, title, TITLE_COLUMNS);
		buf_text(out, "\")");
	}
}
