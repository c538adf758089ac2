/* Escapes text for a terminal and measures its width: part of text.h. */
#include "base/text.h"

#include <stdio.h>
#include <utf8proc.h>

/* ---- clusters ---- */

/* The unit that a terminal draws in one place: a grapheme cluster (UAX #29), such as a letter
   with its accents, a flag, or several emoji joined into one. The tables are libutf8proc's, so that
   the result does not depend on the locale. */
struct cluster {
	size_t bytes;
	size_t cells; /* terminal columns */
	/* Must be escaped before it reaches a terminal: a control, invisible or bidirectional
	   character, or a byte that is not UTF-8. `cells` is then the width of the escape. */
	bool unsafe;
	uint32_t code;   /* the first code point, or the invalid byte */
	char escape[12]; /* replacement text if unsafe: \n, \x1b, \u{202e} */
};

#define ZERO_WIDTH_JOINER  0x200du
#define EMOJI_PRESENTATION 0xfe0fu /* variation selector 16 */
#define BLACK_FLAG         0x1f3f4u

static bool is_in(uint32_t code, uint32_t first, uint32_t last)
{
	return code >= first && code <= last;
}

static bool is_variation_selector(uint32_t code)
{
	return is_in(code, 0xfe00, 0xfe0f) || is_in(code, 0xe0100, 0xe01ef);
}

/* C0, DEL and C1 controls; bidirectional marks; invisible characters; line separators. */
static bool cluster_is_unsafe(uint32_t code)
{
	static const struct {
		uint32_t first, last;
	} ranges
		[] =
			{
				{0x00, 0x1f},       {0x7f, 0x9f},     {0x061c, 0x061c},
				{0x180e, 0x180e},   {0x200b, 0x200f}, {0x2028, 0x202e},
				{0x2060, 0x206f},   {0xfeff, 0xfeff}, {0xfff9, 0xfffb},
				{0xe0000, 0xe00ff}, /* tags, which are invisible to people but not to a model */
			};

	for (size_t i = 0; i < ARRAY_LEN(ranges) && code >= ranges[i].first; i++)
		if (code <= ranges[i].last)
			return true;
	return false;
}

static int break_class(uint32_t code)
{
	return (int)utf8proc_get_property((utf8proc_int32_t)code)->boundclass;
}

static bool is_pictograph(uint32_t code)
{
	return break_class(code) == UTF8PROC_BOUNDCLASS_EXTENDED_PICTOGRAPHIC;
}

/* The cells that a code point adds to the width of its cluster. */
static size_t cells_of(uint32_t code, bool first)
{
	switch (break_class(code)) {
	case UTF8PROC_BOUNDCLASS_V: /* drawn below the leading consonant */
	case UTF8PROC_BOUNDCLASS_T:
		return first;
	case UTF8PROC_BOUNDCLASS_SPACINGMARK:
		return 1;
	default:
		break;
	}
	/* UAX #11: unassigned code points on the ideographic planes are wide */
	if (is_in(code, 0x20000, 0x3fffd))
		return 2;
	return (size_t)utf8proc_charwidth((utf8proc_int32_t)code);
}

/* A character of so many bytes that is to be escaped. */
static struct cluster cluster_escaped(uint32_t code, size_t bytes)
{
	struct cluster c = {.bytes = bytes, .unsafe = true, .code = code};
	static const char named[] = "\n\t\r", names[] = "ntr";
	const char *name = code && code < 0x80 ? strchr(named, (int)code) : NULL;
	int n;

	if (name) {
		n = snprintf(c.escape, sizeof(c.escape), "\\%c", names[name - named]);
	} else {
		n = snprintf(c.escape, sizeof(c.escape), code < 0x100 ? "\\x%02x" : "\\u{%x}",
		             (unsigned)code);
	}
	c.cells = (size_t)n;
	return c;
}

/* Joiners, tags and variation selectors are safe only where they have an effect: a joiner
   between two emoji, a tag in a regional flag, a selector after a character with variants. */
static bool may_follow(uint32_t first, uint32_t last, uint32_t code, struct str rest)
{
	uint32_t next;

	if (code == ZERO_WIDTH_JOINER) {
		return is_pictograph(first) && rest.n && utf8_decode(rest, &next) &&
		       is_pictograph(next);
	}
	if (is_in(code, 0xe0020, 0xe007f)) /* a tag */
		return first == BLACK_FLAG;
	if (is_variation_selector(code))
		return !is_variation_selector(last);
	return !cluster_is_unsafe(code);
}

/* An emoji takes two cells, however many characters it is joined from. */
static size_t emoji_cells(uint32_t first, size_t characters, bool presentation, size_t cells)
{
	bool flag = break_class(first) == UTF8PROC_BOUNDCLASS_REGIONAL_INDICATOR;
	bool wide = presentation || (flag && characters > 1);

	if (wide || (is_pictograph(first) && cells > 2))
		return 2;
	return cells;
}

/* The first cluster of s, which must not be empty. */
static struct cluster cluster_first(struct str s)
{
	struct cluster c = {.bytes = 0};
	utf8proc_int32_t state = 0;
	size_t characters = 1;
	bool presentation = false;
	uint32_t code, last;

	c.bytes = utf8_decode(s, &c.code);
	if (!c.bytes)
		return cluster_escaped((unsigned char)s.p[0], 1);
	if (cluster_is_unsafe(c.code) || is_variation_selector(c.code))
		return cluster_escaped(c.code, c.bytes);
	c.cells = cells_of(c.code, true);
	last = c.code;
	while (c.bytes < s.n) {
		size_t n = utf8_decode(str_skip(s, c.bytes), &code);

		if (!n || utf8proc_grapheme_break_stateful((utf8proc_int32_t)last,
		                                           (utf8proc_int32_t)code, &state)) {
			break;
		}
		if (!may_follow(c.code, last, code, str_skip(s, c.bytes + n)))
			break;
		presentation |= code == EMOJI_PRESENTATION;
		c.cells += cells_of(code, false);
		c.bytes += n;
		characters++;
		last = code;
	}
	c.cells = emoji_cells(c.code, characters, presentation, c.cells);
	return c;
}

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

	if (s.n <= n || (s.p[0] != ':' && s.p[0] != '#') || s.p[1] != s.p[0])
		return false;
	if (s.p[0] == ':') {
		/* bytes of other characters count as blanks: Unicode has many */
		return is_letter(s.p[n]) && (s.p == begin || s.p[-1] <= ' ' || s.p[-1] >= 0x7f);
	}
	while (n < s.n && is_letter(s.p[n]))
		n++;
	return n < s.n && s.p[n] == '[';
}

/* The number of plain ASCII bytes at the start, one cell each. The last one before other text is
   not counted, because it may be the base of a cluster. */
static size_t plain(const char *begin, struct str s)
{
	size_t n = 0;

	while (n < s.n && s.p[n] >= 0x20 && s.p[n] < 0x7f && !is_command(begin, str_skip(s, n)))
		n++;
	return n && n < s.n && (unsigned char)s.p[n] >= 0x80 ? n - 1 : n;
}

static struct cluster first(const char *begin, struct str s)
{
	return is_command(begin, s) ? cluster_escaped((unsigned char)s.p[0], 1) : cluster_first(s);
}

/* Removes plain bytes, or the first cluster, from *rest. */
static struct cluster take(const char *begin, struct str *rest)
{
	size_t run = plain(begin, *rest);
	struct cluster c = run ? (struct cluster){.bytes = run, .cells = run} : first(begin, *rest);

	*rest = str_skip(*rest, c.bytes);
	return c;
}

static void add_cluster(struct buf *out, const struct cluster *c, struct str s)
{
	if (c->unsafe)
		buf_text(out, c->escape);
	else
		buf_add(out, s.p, c->bytes);
}

size_t text_escape_cut(struct buf *out, struct str s, size_t columns)
{
	static const char ellipsis[] = "\xe2\x80\xa6";
	const char *begin = s.p;
	size_t shown = 0;
	size_t fits = out->n,
	       fit = 0; /* longest part that leaves room for the ellipsis, and its cells */

	if (!columns)
		return 0;
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

void text_escape_line(struct buf *out, struct str s)
{
	text_escape(out, s);
	buf_char(out, '\n');
}

void text_put_path(struct buf *out, const char *what, const char *path)
{
	buf_printf(out, "%s: ", what);
	text_escape_line(out, str_from(path));
}

void text_put_uri(struct buf *out, struct str s, const char *plain)
{
	for (size_t i = 0; i < s.n; i++) {
		char c = s.p[i];
		bool same = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
		            (c >= '0' && c <= '9') ||
		            (c && (strchr("-._~", c) || strchr(plain, c)));

		if (same)
			buf_char(out, c);
		else
			buf_printf(out, "%%%02X", (unsigned)(unsigned char)c);
	}
}

bool text_is_safe(struct str s)
{
	const char *begin = s.p;

	while (s.n)
		if (take(begin, &s).unsafe)
			return false;
	return true;
}

size_t text_cells(struct str s)
{
	const char *begin = s.p;
	size_t cells = 0;

	while (s.n)
		cells += take(begin, &s).cells;
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
		while (word < s.n && s.p[word] != ' ' && s.p[word] != '\n')
			word++;
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
