/* UTF-8 (RFC 3629) and what of it may go to a terminal: the escaping half of text.h. */
#include "base/text.h"

/* The code point at the start of s and its length in bytes; 0 when it is not valid UTF-8.
 */
static size_t decode(struct str s, uint32_t *code)
{
	static const uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
	const unsigned char *p = (const unsigned char *)s.p;
	size_t n = p[0] < 0x80       ? 1
	           : p[0] >> 5 == 6  ? 2
	           : p[0] >> 4 == 14 ? 3
	           : p[0] >> 3 == 30 ? 4
	                             : 0;

	if (n == 0 || n > s.n) {
		return 0;
	}
	*code = n == 1 ? p[0] : p[0] & (0xffu >> (n + 1));
	for (size_t i = 1; i < n; i++) {
		if (p[i] >> 6 != 2) {
			return 0;
		}
		*code = *code << 6 | (p[i] & 0x3fu);
	}
	bool surrogate = *code >= 0xd800 && *code < 0xe000;
	return *code < smallest[n] || *code > 0x10ffff || surrogate ? 0 : n;
}

size_t text_utf8_valid(struct str s)
{
	size_t at = 0;
	uint32_t code;

	while (at < s.n) {
		size_t n = decode(str_skip(s, at), &code);

		if (n == 0) {
			return at;
		}
		at += n;
	}
	return at;
}

/* C0, DEL and C1 controls; marks that reorder or hide what stands around them; line
 * separators. */
static bool is_unsafe(uint32_t c)
{
	return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0x061c ||
	       (c >= 0x200b && c <= 0x200f) || (c >= 0x2028 && c <= 0x202e) ||
	       (c >= 0x2066 && c <= 0x2069) || c == 0xfeff;
}

static void escape_one(struct buf *out, uint32_t code)
{
	switch (code) {
	case '\n':
		buf_text(out, "\\n");
		break;
	case '\t':
		buf_text(out, "\\t");
		break;
	case '\r':
		buf_text(out, "\\r");
		break;
	default:
		buf_printf(out, code < 0x100 ? "\\x%02x" : "\\u{%x}", (unsigned)code);
	}
}

/* How many bytes at the start are plain ASCII, a column each. */
static size_t plain(struct str s)
{
	size_t n = 0;

	while (n < s.n && s.p[n] >= 0x20 && s.p[n] < 0x7f) {
		n++;
	}
	return n;
}

void text_escape_cut(struct buf *out, struct str s, size_t columns)
{
	static const char ellipsis[] = "\xe2\x80\xa6";
	size_t shown = 0,
	       fits = out->n; /* fits: the longest part that leaves a column free */

	while (s.n) {
		uint32_t code;
		size_t run = plain(s), before = out->n;

		if (run && shown < columns) {
			run = run < columns - shown ? run : columns - shown;
			buf_add(out, s.p, run);
			shown += run;
			fits = out->n - (shown == columns);
			s = str_skip(s, run);
			continue;
		}
		size_t n = decode(s, &code);
		if (n == 0) {
			code = (unsigned char)s.p[0]; /* a byte that is no text */
		}
		if (n == 0 || is_unsafe(code)) {
			escape_one(out, code);
			shown += out->n - before;
		} else {
			buf_add(out, s.p, n);
			shown++;
		}
		if (shown > columns) {
			buf_cut(out, fits);
			buf_text(out, ellipsis);
			return;
		}
		if (shown < columns) {
			fits = out->n;
		}
		s = str_skip(s, n ? n : 1);
	}
}

void text_escape(struct buf *out, struct str s)
{
	text_escape_cut(out, s, SIZE_MAX);
}

void text_escape_json(struct buf *out, struct str json)
{
	while (json.n) {
		uint32_t code = 0;
		size_t n = decode(json, &code);

		/* C0 controls are blanks between values: inside of strings JSON has none
		 */
		if (n && code >= 0x7f && is_unsafe(code)) {
			buf_printf(out, "\\u%04x", (unsigned)code);
		} else {
			buf_add(out, json.p, n ? n : 1);
		}
		json = str_skip(json, n ? n : 1);
	}
}

/* Characters: continuation bytes take no column. */
static size_t columns_of(struct str s)
{
	size_t n = 0;

	for (size_t i = 0; i < s.n; i++) {
		n += ((unsigned char)s.p[i] & 0xc0) != 0x80;
	}
	return n;
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
		size_t width = columns_of((struct str){s.p, word});
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
