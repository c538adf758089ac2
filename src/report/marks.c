/* Replaces SGR sequences (ECMA-48 section 8.3.117) by marks: see marks.h. */
#include "report/marks.h"

struct colors {
	bool foreground, background, reversed;
};

/* The length of the escape character at the start, raw or escaped as in JSON; 0 if there is
   none. */
static size_t escape_character(struct str s)
{
	static const struct str spellings[] = {
		STR_INIT("\x1b"),
		STR_INIT("\\u001b"),
		STR_INIT("\\u001B"),
	};

	for (size_t i = 0; i < ARRAY_LEN(spellings); i++)
		if (str_starts(s, spellings[i]))
			return spellings[i].n;
	return 0;
}

/* The parameters of the SGR sequence at the start of s, and its length; 0 if there is none. */
static size_t sgr(struct str s, struct str *parameters)
{
	size_t n = escape_character(s), begin = n + 1;

	if (!n || n >= s.n || s.p[n] != '[')
		return 0;
	for (n = begin; n < s.n && strchr("0123456789;:", s.p[n]) && s.p[n]; n++) {
	}
	*parameters = (struct str){s.p + begin, n - begin};
	return n < s.n && s.p[n] == 'm' ? n + 1 : 0;
}

/* Reads the number at the start of *s and skips it and its separator. An empty one is 0. */
static unsigned next_number(struct str *s)
{
	unsigned number = 0;
	size_t n = 0;

	for (; n < s->n && s->p[n] >= '0' && s->p[n] <= '9'; n++)
		number = number < 1000 ? number * 10 + (unsigned)(s->p[n] - '0') : number;
	*s = str_skip(*s, n + 1);
	return number;
}

static bool is_color(unsigned code, unsigned base)
{
	return (code >= base && code <= base + 8) || (code >= base + 60 && code <= base + 67);
}

static void apply(struct colors *c, struct str parameters)
{
	do {
		unsigned code = next_number(&parameters);

		if (code == 0)
			*c = (struct colors){false};
		else if (code == 7 || code == 27)
			c->reversed = code == 7;
		else if (code == 39)
			c->foreground = false;
		else if (code == 49)
			c->background = false;
		else if (is_color(code, 30))
			c->foreground = true;
		else if (is_color(code, 40))
			c->background = true;
		if (code == 38 || code == 48) { /* 5;INDEX or 2;R;G;B follows */
			unsigned numbers = next_number(&parameters) == 2 ? 3 : 1;

			while (numbers--)
				next_number(&parameters);
		}
	} while (parameters.n);
}

/* The pair of marks for these colors, or NULL. */
static const char *marks_of(struct colors c)
{
	return c.background || c.reversed ? "[]" : c.foreground ? "<>" : "";
}

void marks_add(struct buf *out, struct str text)
{
	struct colors colors = {false};
	const char *open = "";
	struct str parameters;

	while (text.n) {
		size_t n = sgr(text, &parameters);

		if (!n) {
			buf_char(out, text.p[0]);
			text = str_skip(text, 1);
			continue;
		}
		text = str_skip(text, n);
		apply(&colors, parameters);
		const char *marks = marks_of(colors);
		if (strcmp(marks, open) != 0) {
			buf_add(out, open + 1, *open ? 1 : 0);
			buf_add(out, marks, *marks ? 1 : 0);
			open = marks;
		}
	}
	buf_add(out, open + 1, *open ? 1 : 0);
}
