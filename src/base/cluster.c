/* Grapheme clusters, their width in a terminal, and which characters are unsafe there: see
   cluster.h. The tables are libutf8proc's, so that the result does not depend on the locale. */
#include "base/cluster.h"

#include "base/utf8.h"

#include <stdio.h>
#include <utf8proc.h>

#define ZERO_WIDTH_JOINER  0x200du
#define EMOJI_PRESENTATION 0xfe0fu /* variation selector 16 */
#define BLACK_FLAG         0x1f3f4u

static bool is_in(uint32_t code, uint32_t first, uint32_t last)
{
	return code >= first && code <= last;
}

static bool is_tag(uint32_t code)
{
	return is_in(code, 0xe0020, 0xe007f);
}

static bool is_variation_selector(uint32_t code)
{
	return is_in(code, 0xfe00, 0xfe0f) || is_in(code, 0xe0100, 0xe01ef);
}

bool cluster_is_unsafe(uint32_t code)
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

	for (size_t i = 0; i < ARRAY_LEN(ranges) && code >= ranges[i].first; i++) {
		if (code <= ranges[i].last) {
			return true;
		}
	}
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
	if (is_in(code, 0x20000, 0x3fffd)) {
		return 2;
	}
	return (size_t)utf8proc_charwidth((utf8proc_int32_t)code);
}

struct cluster cluster_escaped(uint32_t code, size_t bytes)
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
	if (is_tag(code)) {
		return first == BLACK_FLAG;
	}
	if (is_variation_selector(code)) {
		return !is_variation_selector(last);
	}
	return !cluster_is_unsafe(code);
}

/* An emoji takes two cells, however many characters it is joined from. */
static size_t emoji_cells(uint32_t first, size_t characters, bool presentation, size_t cells)
{
	bool flag = break_class(first) == UTF8PROC_BOUNDCLASS_REGIONAL_INDICATOR;
	bool wide = presentation || (flag && characters > 1);

	if (wide || (is_pictograph(first) && cells > 2)) {
		return 2;
	}
	return cells;
}

struct cluster cluster_first(struct str s)
{
	struct cluster c = {.bytes = 0};
	utf8proc_int32_t state = 0;
	size_t characters = 1;
	bool presentation = false;
	uint32_t code, last;

	c.bytes = utf8_decode(s, &c.code);
	if (!c.bytes) {
		return cluster_escaped((unsigned char)s.p[0], 1);
	}
	if (cluster_is_unsafe(c.code) || is_variation_selector(c.code)) {
		return cluster_escaped(c.code, c.bytes);
	}
	c.cells = cells_of(c.code, true);
	last = c.code;
	while (c.bytes < s.n) {
		size_t n = utf8_decode(str_skip(s, c.bytes), &code);

		if (!n || utf8proc_grapheme_break_stateful((utf8proc_int32_t)last,
		                                           (utf8proc_int32_t)code, &state)) {
			break;
		}
		if (!may_follow(c.code, last, code, str_skip(s, c.bytes + n))) {
			break;
		}
		presentation |= code == EMOJI_PRESENTATION;
		c.cells += cells_of(code, false);
		c.bytes += n;
		characters++;
		last = code;
	}
	c.cells = emoji_cells(c.code, characters, presentation, c.cells);
	return c;
}
