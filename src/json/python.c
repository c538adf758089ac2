/* Parses Python literals: see python.h. Iterative, with limited nesting. */
#include "json/python.h"

#include "json/scan.h"

#include <ctype.h>

#define DEPTH_MAX 64
#define TRIES_MAX 64 /* brackets in a text tried as the start of a literal */

/* One open bracket. */
struct python_level {
	char closer;
	bool braces;  /* a dict or a set: the first ':' or ',' decides */
	bool dict;    /* a ':' was read */
	bool call;    /* array(..): its first argument is the value */
	bool value;   /* after a ':' */
	size_t count; /* elements begun */
	size_t at;    /* offset of the bracket in the output */
	size_t key;   /* offset of the newest key */
};

struct python {
	struct str rest;
	struct buf *out;
	struct python_level stack[DEPTH_MAX];
	size_t depth;
};

static void skip_blanks(struct python *p)
{
	while (p->rest.n && p->rest.p[0] && strchr(" \t\r\n", p->rest.p[0]))
		p->rest = str_skip(p->rest, 1);
}

static char next_char(const struct python *p)
{
	return p->rest.n ? p->rest.p[0] : '\0';
}

/* ---- scalars ---- */

static unsigned hex_digit(char c)
{
	return isdigit((unsigned char)c) ? (unsigned)(c - '0') : (unsigned)((c | 32) - 'a') + 10;
}

/* \xHH, \uHHHH, \UHHHHHHHH: n hex digits. */
static bool put_hex(struct str *rest, size_t n, struct buf *out)
{
	uint32_t code = 0;

	if (rest->n < n)
		return false;
	for (size_t i = 0; i < n; i++) {
		if (!isxdigit((unsigned char)rest->p[i]))
			return false;
		code = code << 4 | hex_digit(rest->p[i]);
	}
	*rest = str_skip(*rest, n);
	if (code > 0x10ffff)
		return false;
	if (code > 0xffff)
		buf_printf(out, "\\u%04x\\u%04x", 0xd7c0 + (code >> 10), 0xdc00 + (code & 0x3ff));
	else
		buf_printf(out, "\\u%04x", code);
	return true;
}

/* \O, \OO, \OOO */
static bool put_octal(struct str *rest, struct buf *out)
{
	unsigned code = 0;
	size_t n = 0;

	for (; n < 3 && n < rest->n && rest->p[n] >= '0' && rest->p[n] <= '7'; n++)
		code = code << 3 | (unsigned)(rest->p[n] - '0');
	if (n) {
		buf_printf(out, "\\u%04x", code);
		*rest = str_skip(*rest, n);
	}
	return n > 0;
}

/* A backslash before any other character stands for itself; at the end of a line it continues the
   line. */
static bool put_escape(struct str *rest, struct buf *out)
{
	static const char letters[] = "ntr\\\"bf'av\n";
	static const char *const json[] = {"\\n", "\\t", "\\r",     "\\\\",    "\\\"", "\\b",
	                                   "\\f", "'",   "\\u0007", "\\u000b", ""};
	char c = rest->n ? rest->p[0] : '\0';
	const char *at = c ? strchr(letters, c) : NULL;

	if (put_octal(rest, out))
		return true;
	if (!at && c != 'x' && c != 'u' && c != 'U') {
		buf_text(out, "\\\\");
		return c != '\0';
	}
	*rest = str_skip(*rest, 1);
	if (at) {
		buf_text(out, json[at - letters]);
		return true;
	}
	return put_hex(rest, c == 'x' ? 2 : c == 'u' ? 4 : 8, out);
}

/* Writes one unescaped character. */
static void put_char(char c, struct buf *out)
{
	if ((unsigned char)c < ' ')
		buf_printf(out, "\\u%04x", (unsigned)c);
	else if (c == '"')
		buf_text(out, "\\\"");
	else
		buf_char(out, c);
}

static bool read_string(struct python *p)
{
	static const char *const triples[] = {"\"\"\"", "'''"};
	struct str quote = {p->rest.p, 1};

	for (size_t i = 0; i < ARRAY_LEN(triples); i++)
		quote.n = str_starts(p->rest, str_from(triples[i])) ? 3 : quote.n;
	struct str rest = str_skip(p->rest, quote.n);

	buf_char(p->out, '"');
	while (rest.n && !str_starts(rest, quote)) {
		char c = rest.p[0];

		rest = str_skip(rest, 1);
		if (c != '\\')
			put_char(c, p->out);
		else if (!put_escape(&rest, p->out))
			return false;
	}
	if (!rest.n)
		return false;
	buf_char(p->out, '"');
	p->rest = str_skip(rest, quote.n);
	return true;
}

/* numpy prints 1.0 as "1.". */
static bool read_number(struct python *p)
{
	struct buf text = BUF(BUF_MAX_SMALL);
	size_t n = 0;

	while (n < p->rest.n && p->rest.p[n] && strchr("+-.0123456789eE", p->rest.p[n]))
		n++;
	buf_add(&text, p->rest.p, n);
	if (n && p->rest.p[n - 1] == '.')
		buf_char(&text, '0');
	bool good = n && json_is_valid(buf_view(&text));
	if (good) {
		buf_str(p->out, buf_view(&text));
		p->rest = str_skip(p->rest, n);
	}
	buf_release(&text);
	return good;
}

static bool is_name(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '.';
}

static bool read_word(struct python *p)
{
	static const struct {
		struct str word;
		const char *json;
	} words[] = {
		{STR_INIT("True"), "true"},   {STR_INIT("False"), "false"},
		{STR_INIT("None"), "null"},   {STR_INIT("np.True_"), "true"},
		{STR_INIT("nan"), "\"nan\""}, {STR_INIT("np.False_"), "false"},
		{STR_INIT("inf"), "\"inf\""}, {STR_INIT("true"), "true"},
		{STR_INIT("false"), "false"}, {STR_INIT("null"), "null"},
	};
	size_t n = 0;

	while (n < p->rest.n && is_name(p->rest.p[n]))
		n++;
	for (size_t i = 0; i < ARRAY_LEN(words); i++) {
		if (str_eq(words[i].word, (struct str){p->rest.p, n})) {
			buf_text(p->out, words[i].json);
			p->rest = str_skip(p->rest, n);
			return true;
		}
	}
	return false;
}

static bool read_scalar(struct python *p)
{
	char c = next_char(p);

	if (c == '\'' || c == '"')
		return read_string(p);
	return c == '-' || isdigit((unsigned char)c) ? read_number(p) : read_word(p);
}

/* ---- brackets ---- */

/* The length of "array(", "np.float64("; 0 for other text. */
static size_t call_length(struct str s)
{
	static const char *const names[] = {"array",  "float16", "float32", "float64", "int8",
	                                    "int16",  "int32",   "int64",   "uint8",   "uint16",
	                                    "uint32", "uint64",  "bool_",   "str_"};
	size_t prefix = str_starts(s, STR("np.")) ? 3 : str_starts(s, STR("numpy.")) ? 6 : 0;
	struct str name = str_skip(s, prefix);

	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		size_t n = strlen(names[i]);

		if (str_starts(name, str_from(names[i])) && name.n > n && name.p[n] == '(')
			return prefix + n + 1;
	}
	return 0;
}

/* Opens a bracket; returns false if there is none. */
static bool open_bracket(struct python *p)
{
	static const char openers[] = "{[(", closers[] = "}])";
	const char *which = next_char(p) ? strchr(openers, next_char(p)) : NULL;
	size_t n = which ? 1 : call_length(p->rest);

	if (!n || p->depth == DEPTH_MAX)
		return false;
	p->stack[p->depth++] =
		(struct python_level){.closer = which ? closers[which - openers] : ')',
	                              .braces = which && *which == '{',
	                              .call = !which,
	                              .at = p->out->n};
	if (which)
		buf_char(p->out, *which == '{' ? '{' : '[');
	p->rest = str_skip(p->rest, n);
	return true;
}

static void close_bracket(struct python *p)
{
	struct python_level *top = &p->stack[--p->depth];

	p->rest = str_skip(p->rest, 1);
	if (top->call)
		return;
	if (top->braces && !top->dict && top->count > 0) {
		p->out->p[top->at] = '['; /* a set */
		buf_char(p->out, ']');
	} else {
		buf_char(p->out, top->braces ? '}' : ']');
	}
}

/* Makes the last value a key: JSON keys are strings. */
static bool take_key(struct python *p, struct python_level *top)
{
	struct str key = str_skip(buf_view(p->out), top->key);
	char number[64];
	size_t n = key.n;

	if (!top->braces || top->value || (top->count > 1 && !top->dict))
		return false;
	top->dict = top->value = true;
	p->rest = str_skip(p->rest, 1);
	if (key.n && key.p[0] != '"') {
		if (n >= sizeof(number) || key.p[0] == '[' || key.p[0] == '{')
			return false;
		memcpy(number, key.p, n);
		buf_cut(p->out, top->key);
		buf_printf(p->out, "\"%.*s\"", (int)n, number);
	}
	buf_char(p->out, ':');
	return true;
}

/* Skips all but the first argument: array([1], dtype=int8). */
static bool skip_arguments(struct python *p)
{
	size_t n = 0;

	while (n < p->rest.n && !strchr("()[]{}'\"", p->rest.p[n]))
		n++;
	p->rest = str_skip(p->rest, n);
	return next_char(p) == ')';
}

static bool take_comma(struct python *p, struct python_level *top)
{
	if (top->call)
		return skip_arguments(p);
	if (top->dict && !top->value)
		return false;
	top->value = false;
	p->rest = str_skip(p->rest, 1);
	return true;
}

/* Before a value: writes its comma and notes where a key would begin. */
static void begin_element(struct python *p)
{
	struct python_level *top = p->depth ? &p->stack[p->depth - 1] : NULL;

	if (!top || top->value)
		return;
	if (top->count++ > 0)
		buf_char(p->out, ',');
	top->key = p->out->n;
}

static bool at_closer(const struct python *p)
{
	return p->depth && next_char(p) == p->stack[p->depth - 1].closer;
}

/* Reads past a value to the start of the next one. False: syntax error. */
static bool after_value(struct python *p)
{
	for (;;) {
		skip_blanks(p);
		if (!p->depth)
			return true;
		struct python_level *top = &p->stack[p->depth - 1];
		if (next_char(p) == top->closer) {
			if (top->dict && !top->value)
				return false;
			close_bracket(p);
		} else if (next_char(p) == ',') {
			if (!take_comma(p, top))
				return false;
			if (!top->call)
				return true;
		} else {
			return next_char(p) == ':' && take_key(p, top);
		}
	}
}

static bool read_value(struct python *p)
{
	begin_element(p);
	if (open_bracket(p)) {
		skip_blanks(p);
		if (!at_closer(p))
			return true;
		close_bracket(p);
		return after_value(p);
	}
	return read_scalar(p) && after_value(p);
}

bool python_literal(struct str text, size_t *used, struct buf *out)
{
	struct python p = {.rest = text, .out = out};
	size_t before = out->n;
	bool good = true;

	skip_blanks(&p);
	do {
		skip_blanks(&p);
		if (p.depth && at_closer(&p) && p.stack[p.depth - 1].count &&
		    !p.stack[p.depth - 1].value) { /* a trailing comma */
			close_bracket(&p);
			good = after_value(&p);
		} else {
			good = read_value(&p);
		}
	} while (good && p.depth && p.rest.n);
	if (!good || p.depth || out->full) {
		buf_cut(out, before);
		return false;
	}
	*used = text.n - p.rest.n;
	return true;
}

bool python_find(struct str text, struct buf *out)
{
	struct json_fault fault;
	size_t used, tries = 0;

	for (size_t i = 0; i < text.n && tries < TRIES_MAX; i++) {
		struct str rest = str_skip(text, i);

		if (rest.p[0] != '{' && rest.p[0] != '[')
			continue;
		tries++;
		if (json_validate_first(rest, &used, &fault) == 0) {
			buf_add(out, rest.p, used);
			return true;
		}
		if (python_literal(rest, &used, out))
			return true;
	}
	return false;
}
