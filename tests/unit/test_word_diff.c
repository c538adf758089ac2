/* Word differences of texts, as in git. */
#include "report/word_diff.h"

#include "tap.h"

static const struct {
	const char *name, *before, *after, *want; /* NULL: not shown as words */
} cases[] = {
	{"a word", "the quick fox", "the slow fox", "the [-quick-]{+slow+} fox"},
	{"a word more", "a b", "a c b", "a {+c +}b"},
	{"a word less, at the end", "one two three", "one two", "one two[- three-]"},
	{"punctuation is a token of its own", "x=1, y=2", "x=1, y=3", "x=1, y=[-2-]{+3+}"},
	{"control characters are escaped", "a\x1b b\n", "a\x1b c\n", "a\\x1b [-b-]{+c+}\\n"},
	{"letters of any language", "der Bär schläft", "der Wal schläft",
         "der [-Bär-]{+Wal+} schläft"},
	{"equal words are left out at the beginning, in the middle and at the end",
         "1 2 3 4 5 6 7 8 9 x 1 2 3 4 5 6 7 8 9 1 2 3 4 5 6 7 8 9 y 1 2 3 4 5 6 7 8 9",
         "1 2 3 4 5 6 7 8 9 u 1 2 3 4 5 6 7 8 9 1 2 3 4 5 6 7 8 9 v 1 2 3 4 5 6 7 8 9",
         "…6 7 8 9 [-x-]{+u+} 1 2 3 4…6 7 8 9 [-y-]{+v+} 1 2 3 4…"},
	{"nothing in common", "one two three", "four five six", NULL},
	{"only blanks in common", "a b c d e", "f g h i j", NULL},
	{"nothing", "", "", NULL},
};

int main(void)
{
	struct buf out = BUF(BUF_MAX_SMALL);

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		buf_clear(&out);
		bool readable = word_diff(str_from(cases[i].before), str_from(cases[i].after),
		                          (struct word_diff_style){.marks = true}, &out);

		is_int(readable, cases[i].want != NULL, "%s: readable", cases[i].name);
		is_str(buf_cstr(&out), cases[i].want ? cases[i].want : "", "%s", cases[i].name);
	}
	buf_clear(&out);
	ok(word_diff(STR("a b"), STR("a c"), (struct word_diff_style){.color = true}, &out),
	   "in colors");
	is_str(buf_cstr(&out), "a \x1b[31mb\x1b[0m\x1b[32mc\x1b[0m", "red and green, no marks");
	buf_release(&out);
	return done();
}
