/* The page's template: see template.h. The page's Content Security Policy allows only this style
   and script, by hash (CSP Level 3, section 2.3.1), and images embedded in the page. */
#include "report/html/template.h"

#include "base/base64.h"
#include "base/hash.h"
#include "report/html/parts.h"

static struct str style_part(void)
{
	return (struct str){page_part_style, page_part_style_n};
}

static struct str script_part(void)
{
	return (struct str){page_part_script, page_part_script_n};
}

static void put_style(struct buf *out)
{
	buf_str(out, style_part());
}

static void put_script(struct buf *out)
{
	buf_str(out, script_part());
}

static void put_hash(struct str text, struct buf *out)
{
	unsigned char digest[HASH_SHA256_BYTES];

	hash_sha256(text, digest);
	buf_text(out, "sha256-");
	base64_encode(out, (struct str){(const char *)digest, sizeof(digest)});
}

static void put_style_hash(struct buf *out)
{
	put_hash(style_part(), out);
}

static void put_script_hash(struct buf *out)
{
	put_hash(script_part(), out);
}

#define MARK_OPEN  STR("{{")
#define MARK_CLOSE STR("}}")

static const struct mark {
	const char *name;
	void (*put)(struct buf *out); /* NULL: the place of the data */
} marks[] = {
	{"style", put_style},
	{"script", put_script},
	{"style-hash", put_style_hash},
	{"script-hash", put_script_hash},
	{"data", NULL},
};

static const struct mark *mark_at(struct str text)
{
	for (size_t i = 0; i < ARRAY_LEN(marks); i++) {
		struct str name = str_from(marks[i].name);

		if (str_starts(text, MARK_OPEN) && str_starts(str_skip(text, MARK_OPEN.n), name) &&
		    str_starts(str_skip(text, MARK_OPEN.n + name.n), MARK_CLOSE)) {
			return &marks[i];
		}
	}
	return NULL;
}

/* Appends the template before the place of the data, or after it. */
static void put_side(bool head, struct buf *out)
{
	struct str rest = {page_part_page, page_part_page_n};
	bool before = true;

	while (rest.n) {
		const struct mark *m = mark_at(rest);

		if (m && !m->put) {
			before = false;
		} else if (m && before == head) {
			m->put(out);
		} else if (!m && before == head) {
			buf_char(out, *rest.p);
		}
		rest = str_skip(rest, m ? MARK_OPEN.n + strlen(m->name) + MARK_CLOSE.n : 1);
	}
}

void template_head(struct buf *out)
{
	put_side(true, out);
}

void template_tail(struct buf *out)
{
	put_side(false, out);
}

void template_data(struct str line, struct buf *out)
{
	size_t from = 0;

	for (size_t i = 0; i < line.n; i++) {
		char c = line.p[i];

		if (c == '<' || c == '\r' || (c == '\n' && i + 1 < line.n)) {
			buf_add(out, line.p + from, i - from);
			buf_text(out, c == '<' ? "\\u003c" : " ");
			from = i + 1;
		}
	}
	buf_add(out, line.p + from, line.n - from);
	if (!str_ends(line, STR("\n"))) {
		buf_char(out, '\n');
	}
}
