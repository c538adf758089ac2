/* Escapes text for a terminal and measures its width: part of text.h. */
#include "base/cluster.h"
#include "base/text.h"
#include "base/utf8.h"

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* Does s, a part of the text that begins at `begin`, start with a command that a CI runner reads
   from a log? GitHub's reads "::error::" where only blanks precede it on its line, and "##[error]"
   anywhere; Azure Pipelines reads "##vso[..]", TeamCity "##teamcity[..]". */
static bool is_command(const char *begin, struct str s)
{
	size_t n = 2;

	if (s.n <= n || (s.p[0] != ':' && s.p[0] != '#') || s.p[1] != s.p[0]) {
		return false;
	}
	if (s.p[0] == ':') {
		/* bytes of other characters count as blanks: Unicode has many */
		return is_letter(s.p[n]) && (s.p == begin || s.p[-1] <= ' ' || s.p[-1] >= 0x7f);
	}
	while (n < s.n && is_letter(s.p[n])) {
		n++;
	}
	return n < s.n && s.p[n] == '[';
}

/* The number of plain ASCII bytes at the start, one cell each. The last one before other text is
   not counted, because it may be the base of a cluster. */
static size_t plain(const char *begin, struct str s)
{
	size_t n = 0;

	while (n < s.n && s.p[n] >= 0x20 && s.p[n] < 0x7f && !is_command(begin, str_skip(s, n))) {
		n++;
	}
	return n && n < s.n && (unsigned char)s.p[n] >= 0x80 ? n - 1 : n;
}

static struct cluster first(const char *begin, struct str s)
{
	return is_command(begin, s) ? cluster_escaped((unsigned char)s.p[0], 1) : cluster_first(s);
}

static void add_cluster(struct buf *out, const struct cluster *c, struct str s)
{
	if (c->unsafe) {
		buf_text(out, c->escape);
	} else {
		buf_add(out, s.p, c->bytes);
	}
}

size_t text_escape_cut(struct buf *out, struct str s, size_t columns)
{
	static const char ellipsis[] = "\xe2\x80\xa6";
	const char *begin = s.p;
	size_t shown = 0;
	size_t fits = out->n,
	       fit = 0; /* longest part that leaves room for the ellipsis, and its cells */

	if (!columns) {
		return 0;
	}
	while (s.n) {
		size_t run = plain(begin, s);

		if (run && shown < columns) {
			run = run < columns - shown ? run : columns - shown;
			buf_add(out, s.p, run);
			shown += run;
			fit = shown - (shown == columns);
			fits = out->n - (shown == columns);
			s = str_skip(s, run);
			continue;
		}
		struct cluster c = first(begin, s);
		if (c.cells > columns - shown) {
			buf_cut(out, fits);
			buf_text(out, ellipsis);
			return fit + 1;
		}
		add_cluster(out, &c, s);
		shown += c.cells;
		if (shown < columns) {
			fits = out->n;
			fit = shown;
		}
		s = str_skip(s, c.bytes);
	}
	return shown;
}

void text_escape(struct buf *out, struct str s)
{
	text_escape_cut(out, s, SIZE_MAX);
}

void text_put_path(struct buf *out, const char *what, const char *path)
{
	buf_printf(out, "%s: ", what);
	text_escape(out, str_from(path));
	buf_char(out, '\n');
}

bool text_is_safe(struct str s)
{
	const char *begin = s.p;

	while (s.n) {
		size_t run = plain(begin, s);
		struct cluster c = {.bytes = run};

		if (!run) {
			c = first(begin, s);
		}
		if (c.unsafe) {
			return false;
		}
		s = str_skip(s, c.bytes);
	}
	return true;
}

size_t text_cells(struct str s)
{
	const char *begin = s.p;
	size_t cells = 0;

	while (s.n) {
		size_t run = plain(begin, s);

		if (!run) {
			struct cluster c = first(begin, s);

			cells += c.cells;
			s = str_skip(s, c.bytes);
			continue;
		}
		cells += run;
		s = str_skip(s, run);
	}
	return cells;
}

static void escape_json(struct buf *out, uint32_t code)
{
	if (code < 0x10000) {
		buf_printf(out, "\\u%04x", (unsigned)code);
		return;
	}
	code -= 0x10000;
	buf_printf(out, "\\u%04x\\u%04x", 0xd800u | (unsigned)(code >> 10),
	           0xdc00u | (unsigned)(code & 0x3ff));
}

void text_escape_json(struct buf *out, struct str json)
{
	while (json.n) {
		uint32_t code = 0;
		size_t n = utf8_decode(json, &code);

		/* C0 controls are whitespace between values; JSON has none inside strings */
		if (n && (code >= 0x7f ? cluster_is_unsafe(code)
		                       : code == '#' && is_command(json.p, json))) {
			escape_json(out, code);
		} else {
			buf_add(out, json.p, n ? n : 1);
		}
		json = str_skip(json, n ? n : 1);
	}
}

void text_wrap(struct buf *out, struct str s, size_t indent, size_t columns)
{
	size_t at = indent;
	bool first = true;

	while (s.n) {
		size_t word = 0;

		if (s.p[0] == '\n') {
			buf_printf(out, "\n%*s", (int)indent, "");
			at = indent;
			first = true;
			s = str_skip(s, 1);
			continue;
		}
		while (word < s.n && s.p[word] != ' ' && s.p[word] != '\n') {
			word++;
		}
		size_t width = text_cells((struct str){s.p, word});
		if (!first && at + 1 + width > columns) {
			buf_printf(out, "\n%*s", (int)indent, "");
			at = indent;
			first = true;
		}
		buf_text(out, first ? "" : " ");
		buf_add(out, s.p, word);
		at += width + !first;
		first = false;
		s = str_skip(s, word + (word < s.n && s.p[word] == ' '));
	}
	buf_char(out, '\n');
}
