/* The width of text in a terminal, truncation, and escapes. */
#include "base/text.h"
#include "tap.h"

static const struct {
	const char *name, *text;
	size_t cells;
	const char *shown; /* NULL: unchanged */
} rows[] = {
	{"ASCII", "lake_move", 9, NULL},
	{"nothing", "", 0, NULL},
	{"Latin with accents", "na\u00efve caf\u00e9", 10, NULL},
	{"a combining acute", "cafe\u0301", 4, NULL},
	{"many marks on one letter", "a\u0300\u0301\u0302\u0303\u0304b", 2, NULL},
	{"a mark without a letter", "\u0301", 0, NULL},
	{"Chinese", "\u51b0\u6e56", 4, NULL},
	{"Japanese", "\u30b9\u30c6\u30c3\u30d7", 8, NULL},
	{"half-width katakana", "\uff76\uff9e", 2, NULL},
	{"full-width Latin", "\uff21\uff22", 4, NULL},
	{"Korean", "\ud55c\uad6d", 4, NULL},
	{"Korean of conjoining letters", "\u1112\u1161\u11ab", 2, NULL},
	{"an ideograph of another plane", "\U00020bb7", 2, NULL},
	{"one not assigned yet", "\U0003fffd", 2, NULL},
	{"an ideograph's variant", "\u845b\U000e0100", 2, NULL},
	{"ambiguous width: narrow", "\u00b1\u03b1\u0416\u2026\u2192", 5, NULL},
	{"box drawing", "\u2554\u2550\u2557", 3, NULL},
	{"an emoji", "\U0001f600", 2, NULL},
	{"an emoji of Unicode 15", "\U0001fae8", 2, NULL},
	{"text that becomes an emoji", "\u2764\ufe0f", 2, NULL},
	{"and the same as text", "\u2764", 1, NULL},
	{"a skin tone", "\U0001f44b\U0001f3fd", 2, NULL},
	{"a skin tone on a narrow hand", "\u261d\U0001f3fd", 2, NULL},
	{"a family joined of three", "\U0001f468\u200d\U0001f469\u200d\U0001f467", 2, NULL},
	{"joined with a variation selector", "\u2764\ufe0f\u200d\U0001f525", 2, NULL},
	{"a flag", "\U0001f1e9\U0001f1ea", 2, NULL},
	{"two flags and half a one", "\U0001f1e9\U0001f1ea\U0001f1eb\U0001f1f7\U0001f1ef", 5, NULL},
	{"a region's flag",
         "\U0001f3f4\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f", 2, NULL},
	{"a keycap", "1\ufe0f\u20e3", 2, NULL},
	{"Hebrew, right to left", "\u05e9\u05dc\u05d5\u05dd", 4, NULL},
	{"Arabic with a vowel", "\u0645\u064e", 1, NULL},
	{"Devanagari with a spacing vowel", "\u0915\u0940", 2, NULL},
	{"Thai", "\u0e01\u0e31", 1, NULL},
	{"a line feed and a tab", "a\nb\tc", 7, "a\\nb\\tc"},
	{"an escape sequence", "\x1b[2J", 7, "\\x1b[2J"},
	{"DEL and a C1 control", "\x7f\xc2\x9b", 8, "\\x7f\\x9b"},
	{"a byte order mark", "\ufeff{", 9, "\\u{feff}{"},
	/* NOLINTNEXTLINE(misc-misleading-bidirectional): it is what is tested */
	{"an override of direction", "\u202ea", 9, "\\u{202e}a"},
	{"a joiner between letters", "a\u200db", 10, "a\\u{200d}b"},
	{"a joiner at the end", "\U0001f468\u200d", 10, "\U0001f468\\u{200d}"},
	{"invisible tags", "a\U000e0068\U000e0069", 19, "a\\u{e0068}\\u{e0069}"},
	{"selectors that hide bytes", "a\ufe01\ufe02", 9, "a\ufe01\\u{fe02}"},
	{"only a selector", "\ufe0f", 8, "\\u{fe0f}"},
	{"a word joiner", "a\u2060b", 10, "a\\u{2060}b"},
	{"bytes that are not UTF-8", "\xff\xc3", 8, "\\xff\\xc3"},
	{"a surrogate", "\xed\xa0\x80", 12, "\\xed\\xa0\\x80"},
	{"half a character after a letter", "a\xcc", 5, "a\\xcc"},
	{"a command for GitHub", "::error title=x::y", 21, "\\x3a:error title=x::y"},
	{"after blanks, which the runner skips", " \u3000::stop-commands::x", 24,
         " \u3000\\x3a:stop-commands::x"},
	{"after a line feed", "a\n::error::", 15, "a\\n\\x3a:error::"},
	{"names and addresses", "std::vector x :: Int ::1 ::", 27, NULL},
	{"a command in GitHub's old form", "a ##[error]b", 15, "a \\x23#[error]b"},
	{"for Azure Pipelines", "x##vso[task.complete]", 24, "x\\x23#vso[task.complete]"},
	{"for TeamCity, with more signs", "###teamcity[a]", 17, "#\\x23#teamcity[a]"},
	{"headings", "## [a] # [b] ##", 15, NULL},
};

static void test_rows(void)
{
	struct buf out = BUF(BUF_MAX_SMALL);

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct str text = str_from(rows[i].text);

		buf_clear(&out);
		is_int(text_cells(text), rows[i].cells, "%s: cells", rows[i].name);
		is_int(text_escape_cut(&out, text, SIZE_MAX), rows[i].cells,
		       "%s: cells when written", rows[i].name);
		is_int(text_is_safe(text), !rows[i].shown, "%s: safe", rows[i].name);
		is_str(buf_cstr(&out), rows[i].shown ? rows[i].shown : rows[i].text, "%s: shown",
		       rows[i].name);
	}
	buf_release(&out);
}

/* Truncated to any width: never wider, never within a character, and the reported width is
   right. */
static bool cut_is_valid(struct str text, size_t columns)
{
	struct buf out = BUF(BUF_MAX_SMALL);
	size_t cells = text_escape_cut(&out, text, columns);
	bool well = cells <= columns && text_cells(buf_view(&out)) == cells &&
	            text_utf8_valid(buf_view(&out)) == out.n;

	if (text_cells(text) <= columns)
		well &= cells == text_cells(text);
	else
		well &= !columns || str_ends(buf_view(&out), STR("\u2026"));
	buf_release(&out);
	return well;
}

static void test_cuts(void)
{
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		size_t wrong = SIZE_MAX;

		for (size_t columns = 0; columns < 24 && wrong == SIZE_MAX; columns++)
			if (!cut_is_valid(str_from(rows[i].text), columns))
				wrong = columns;
		ok(wrong == SIZE_MAX, "%s: cut to any width", rows[i].name);
	}
}

static void test_one_cut(const char *text, size_t columns, const char *expected)
{
	struct buf out = BUF(BUF_MAX_SMALL);

	text_escape_cut(&out, str_from(text), columns);
	is_str(buf_cstr(&out), expected, "cut to %zu", columns);
	buf_release(&out);
}

static void test_wrap(void)
{
	struct buf out = BUF(BUF_MAX_SMALL);

	text_wrap(&out, STR("\u51b0\u6e56 \u51b0\u6e56 ab"), 2, 11);
	is_str(buf_cstr(&out), "\u51b0\u6e56 \u51b0\u6e56\n  ab\n", "lines are broken by cells");
	buf_release(&out);
}

static void test_json(void)
{
	struct buf out = BUF(BUF_MAX_SMALL);

	/* NOLINTNEXTLINE(misc-misleading-bidirectional): it is what is tested */
	text_escape_json(&out, STR("\"\u202e\U000e0068\u51b0\""));
	is_str(buf_cstr(&out), "\"\\u202e\\udb40\\udc68\u51b0\"", "JSON escapes, in pairs");
	buf_clear(&out);
	text_escape_json(&out, STR("{\"a\":\"##[error]b\"}"));
	is_str(buf_cstr(&out), "{\"a\":\"\\u0023#[error]b\"}", "commands for CI in JSON");
	buf_release(&out);
}

int main(void)
{
	test_rows();
	test_cuts();
	test_one_cut("\u51b0\u6e56\u51b0", 6, "\u51b0\u6e56\u51b0");
	test_one_cut("\u51b0\u6e56\u51b0", 5, "\u51b0\u6e56\u2026");
	test_one_cut("\u51b0\u6e56\u51b0", 4, "\u51b0\u2026");
	test_one_cut("cafe\u0301s", 4, "caf\u2026");
	test_one_cut("cafe\u0301", 4, "cafe\u0301");
	test_wrap();
	test_json();
	return done();
}
