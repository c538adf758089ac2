/* Values and calls on one line: see brief.h. */
#include "report/brief.h"

#include "base/text.h"

#include <ctype.h>

/* ---- colors as marks: SGR sequences (ECMA-48 section 8.3.117) ---- */

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
		const char *marks = colors.background || colors.reversed ? "[]"
		                    : colors.foreground                  ? "<>"
		                                                         : "";
		if (strcmp(marks, open) != 0) {
			buf_add(out, open + 1, *open ? 1 : 0);
			buf_add(out, marks, *marks ? 1 : 0);
			open = marks;
		}
	}
	buf_add(out, open + 1, *open ? 1 : 0);
}

/* ---- values ---- */

#define MOST_BYTES ((size_t)4000) /* longer than any terminal line */

static struct str beginning(struct str s)
{
	return (struct str){s.p, s.n < MOST_BYTES ? s.n : MOST_BYTES};
}

/* Recorded JSON may be pretty-printed: removes whitespace outside strings. */
static void add_json(struct buf *out, struct str json)
{
	AUTO_BUF folded = BUF(MOST_BYTES + 1);
	bool inside = false;

	json = beginning(json);
	for (size_t i = 0; i < json.n; i++) {
		inside ^= json.p[i] == '"';
		if (inside || json.p[i] != ' ')
			buf_char(&folded, json.p[i]);
		if (inside && json.p[i] == '\\' && i + 1 < json.n)
			buf_char(&folded, json.p[++i]);
	}
	marks_add(out, buf_view(&folded));
}

/* True if the text without quotes could only be a string. */
static bool is_plain(struct str inner)
{
	static const char others[] = "_-+./:@";
	bool letters = false;

	for (size_t i = 0; i < inner.n; i++) {
		unsigned char c = (unsigned char)inner.p[i];
		bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c >= 0x80;

		if (!letter && (c < '0' || c > '9') && (!c || !strchr(others, c)))
			return false;
		letters |= letter;
	}
	return letters && !str_is(inner, "true") && !str_is(inner, "false") &&
	       !str_is(inner, "null");
}

void brief_value(struct buf *out, struct str value)
{
	if (json_type(value) == JSON_STRING && is_plain(json_inner(value)))
		buf_str(out, beginning(json_inner(value)));
	else
		add_json(out, value);
}

/* The empty members that an object begins with would fill the cell: {"metadata":{},"message":"", */
static struct str without_empty(struct str object)
{
	struct json_member m = {.type = JSON_ABSENT};
	size_t cursor = 0, before = 0;

	while (json_next_member(object, &cursor, &m) && json_is_empty(m.value))
		before = cursor;
	return before && before < cursor ? str_skip(object, (size_t)(m.key.p - 1 - object.p))
	                                 : STR_NONE;
}

void brief_text(struct buf *out, struct str value)
{
	AUTO_BUF text = BUF(BUF_MAX_MESSAGE);
	struct str rest = without_empty(value);

	if (json_type(value) == JSON_STRING && json_inner(value).n) {
		json_decode(value, &text);
		marks_add(out, beginning(buf_view(&text)));
	} else {
		buf_text(out, rest.p ? "{..," : "");
		add_json(out, rest.p ? rest : value);
	}
}

void brief_call(struct buf *out, const struct line *step)
{
	struct str arguments = line_arguments(step);
	struct json_member m;

	if (!line_has(step, KEY_TOOL_CALL)) {
		buf_text(out, "(no call)");
		return;
	}
	buf_str(out, line_tool_name(step));
	if (json_type(arguments) != JSON_OBJECT) {
		buf_char(out, ' ');
		add_json(out, arguments);
		return;
	}
	for (size_t cursor = 0; json_next_member(arguments, &cursor, &m) && out->n < MOST_BYTES;) {
		buf_char(out, ' ');
		buf_str(out, m.key);
		buf_char(out, '=');
		brief_value(out, m.value);
	}
}

void brief_put(struct buf *out, struct str value, size_t columns)
{
	AUTO_BUF text = BUF(BUF_MAX_MESSAGE);

	brief_value(&text, value);
	text_escape_cut(out, buf_view(&text), columns);
}

void brief_put_call(struct buf *out, const struct line *step, size_t columns)
{
	AUTO_BUF text = BUF(BUF_MAX_MESSAGE);

	brief_call(&text, step);
	text_escape_cut(out, buf_view(&text), columns);
}

/* ---- base64 ---- */

#define BASE64_LEAST ((size_t)160) /* characters: longer than ids, keys and tokens */

static const struct {
	const char *start, *what;
} base64_types[] = {
	{"iVBORw0KGgo", " of a PNG image"}, {"/9j/", " of a JPEG image"},
	{"R0lGOD", " of a GIF image"},      {"UklGR", " of a RIFF file (WebP, WAV)"},
	{"JVBERi0", " of a PDF file"},      {"UEsDB", " of a ZIP archive"},
	{"H4sI", " of gzip data"},          {"SUQz", " of an MP3 file"},
};

static bool in_base64(char c)
{
	return c && (isalnum((unsigned char)c) || strchr("+/-_=", c));
}

/* The length of the run of base64 at the start of the text, in which JSON may escape slashes; 0: it
   looks like something else. */
static size_t base64_run(struct str text, size_t *digits)
{
	bool lower = false, upper = false, number = false;
	size_t n = 0;

	*digits = 0;
	for (; n < text.n; n++) {
		char c = text.p[n];

		if (c == '\\' && n + 1 < text.n && text.p[n + 1] == '/')
			continue;
		if (!in_base64(c))
			break;
		lower = lower || islower((unsigned char)c);
		upper = upper || isupper((unsigned char)c);
		number = number || isdigit((unsigned char)c);
		*digits += c != '=';
	}
	return *digits >= BASE64_LEAST && lower && upper && number ? n : 0;
}

void brief_base64(struct buf *out, struct str text)
{
	while (text.n) {
		size_t digits, n = base64_run(text, &digits);
		const char *what = "";

		for (size_t i = 0; n && i < ARRAY_LEN(base64_types); i++) {
			what = str_starts(text, str_from(base64_types[i].start))
			               ? base64_types[i].what
			               : what;
		}
		if (n) {
			buf_printf(out, "<base64%s, %zu bytes>", what, digits * 3 / 4);
			text = str_skip(text, n);
		}
		for (n = 0; n < text.n && in_base64(text.p[n]); n++) {
		}
		for (; n < text.n && !in_base64(text.p[n]); n++) {
		}
		buf_str(out, (struct str){text.p, n});
		text = str_skip(text, n);
	}
}
