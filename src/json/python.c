/* Translates Python literals: see python.h. Each token is written as its JSON spelling, so that what
   is no literal gives text that is not JSON, which the scanner refuses. Iterative, with limited
   nesting. */
#include "json/python.h"

#include "json/scan.h"

#include <ctype.h>

#define DEPTH_MAX 64
#define TRIES_MAX 64 /* brackets in a text tried as the start of a literal */

/* One open bracket. */
struct python_level {
	char closer;
	bool call; /* array(..): its first argument is the value */
	bool dict; /* braces in which a ':' was read: the others are a set */
	size_t at; /* offset of the bracket in the output */
};

struct python {
	struct str rest;
	struct buf *out;
	size_t value; /* offset of the newest scalar or opened bracket in the output */
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

/* n digits of the base; the code point, or UINT32_MAX. */
static uint32_t read_code(struct str *rest, size_t n, unsigned base)
{
	uint32_t code = 0;

	for (size_t i = 0; i < n; i++) {
		char c = i < rest->n ? rest->p[i] : '\0';
		unsigned digit = isdigit((unsigned char)c)    ? (unsigned)(c - '0')
		                 : isxdigit((unsigned char)c) ? (unsigned)((c | 32) - 'a') + 10
		                                              : base;

		if (digit >= base || code > 0x10ffff)
			return UINT32_MAX;
		code = code * base + digit;
	}
	*rest = str_skip(*rest, n);
	return code;
}

static bool put_code(uint32_t code, struct buf *out)
{
	if (code > 0x10ffff)
		return false;
	if (code > 0xffff)
		buf_printf(out, "\\u%04x\\u%04x", 0xd7c0 + (code >> 10), 0xdc00 + (code & 0x3ff));
	else
		buf_printf(out, "\\u%04x", code);
	return true;
}

/* \O, \OO, \OOO, \xHH, \uHHHH, \UHHHHHHHH. A backslash before any other character stands for itself;
   at the end of a line it continues the line. */
static bool put_escape(struct str *rest, struct buf *out)
{
	static const char letters[] = "ntr\\\"bf'av\n";
	static const char *const json[] = {"\\n", "\\t", "\\r",     "\\\\",    "\\\"", "\\b",
	                                   "\\f", "'",   "\\u0007", "\\u000b", ""};
	char c = rest->n ? rest->p[0] : '\0';
	const char *at = c ? strchr(letters, c) : NULL;
	size_t octal = 0;

	while (octal < 3 && octal < rest->n && rest->p[octal] >= '0' && rest->p[octal] <= '7')
		octal++;
	if (octal)
		return put_code(read_code(rest, octal, 8), out);
	if (!at && c != 'x' && c != 'u' && c != 'U') {
		buf_text(out, "\\\\");
		return c != '\0';
	}
	*rest = str_skip(*rest, 1);
	if (!at)
		return put_code(read_code(rest, c == 'x' ? 2 : c == 'u' ? 4 : 8, 16), out);
	buf_text(out, json[at - letters]);
	return true;
}

/* Writes one unescaped character. */
static void put_char(char c, struct buf *out)
{
	if ((unsigned char)c < ' ') {
		put_code((unsigned char)c, out);
		return;
	}
	if (c == '"')
		buf_char(out, '\\');
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
		if (c == '\\' && !put_escape(&rest, p->out))
			return false;
		if (c != '\\')
			put_char(c, p->out);
	}
	buf_char(p->out, '"');
	p->rest = str_skip(rest, quote.n);
	return rest.n > 0;
}

/* A number, or a word of the table. numpy prints 1.0 as "1.". */
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
	bool number = next_char(p) == '-' || isdigit((unsigned char)next_char(p));
	struct str word = {p->rest.p, 0};

	while (word.n < p->rest.n && p->rest.p[word.n] &&
	       (number ? strchr("+-.0123456789eE", p->rest.p[word.n]) != NULL
	               : isalnum((unsigned char)p->rest.p[word.n]) ||
	                         strchr("_.", p->rest.p[word.n])))
		word.n++;
	p->rest = str_skip(p->rest, word.n);
	if (number) {
		buf_str(p->out, word);
		buf_text(p->out, word.p[word.n - 1] == '.' ? "0" : "");
		return true;
	}
	for (size_t i = 0; i < ARRAY_LEN(words); i++) {
		if (str_eq(words[i].word, word)) {
			buf_text(p->out, words[i].json);
			return true;
		}
	}
	return false;
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

/* Opens the bracket, or the call, that takes n bytes. */
static bool open_bracket(struct python *p, size_t n, bool call)
{
	char c = p->rest.p[0];

	if (p->depth == DEPTH_MAX)
		return false;
	p->stack[p->depth++] = (struct python_level){
		.closer = call || c == '(' ? ')' : (char)(c + 2), .call = call, .at = p->out->n};
	if (!call)
		buf_char(p->out, c == '{' ? '{' : '[');
	p->rest = str_skip(p->rest, n);
	return true;
}

static bool close_bracket(struct python *p)
{
	struct python_level *top = &p->stack[--p->depth];
	bool set = top->closer == '}' && !top->dict && p->out->n > top->at + 1;

	p->rest = str_skip(p->rest, 1);
	if (top->call)
		return p->out->n > top->at;
	if (p->out->p[p->out->n - 1] == ',' && p->out->n > top->at + 2) /* a trailing comma */
		buf_cut(p->out, p->out->n - 1);
	if (set)
		p->out->p[top->at] = '[';
	buf_char(p->out, top->closer == '}' && !set ? '}' : ']');
	p->value = top->at;
	return true;
}

/* Makes the last value a key: JSON's are strings. */
static bool take_colon(struct python *p, struct python_level *top)
{
	struct str key = str_skip(buf_view(p->out), p->value);
	char number[64];
	size_t n = key.n;

	if (top->closer != '}' || !n)
		return false;
	top->dict = true;
	if (!strchr("\"[{", key.p[0])) {
		if (n >= sizeof(number) || !json_is_valid(key))
			return false;
		memcpy(number, key.p, n);
		buf_cut(p->out, p->value);
		buf_printf(p->out, "\"%.*s\"", (int)n, number);
	}
	buf_char(p->out, ':');
	p->rest = str_skip(p->rest, 1);
	return true;
}

/* In a call skips all but the first argument: array([1], dtype=int8). */
static bool take_comma(struct python *p, const struct python_level *top)
{
	size_t n = 1;

	while (top->call && n < p->rest.n && !strchr("()[]{}'\"", p->rest.p[n]))
		n++;
	buf_text(p->out, top->call ? "" : ",");
	p->rest = str_skip(p->rest, n);
	return !top->call || next_char(p) == ')';
}

/* False: it begins no literal. */
static bool take_token(struct python *p)
{
	struct python_level *top = p->depth ? &p->stack[p->depth - 1] : NULL;
	char c = next_char(p);
	size_t call = call_length(p->rest);

	if (top && c == top->closer)
		return close_bracket(p);
	if (top && c == ',')
		return take_comma(p, top);
	if (top && c == ':')
		return take_colon(p, top);
	if (top && p->out->n > top->at && !strchr("[{,:", p->out->p[p->out->n - 1]))
		return false; /* two values without a comma */
	p->value = p->out->n;
	if (call || (c && strchr("{[(", c)))
		return open_bracket(p, call ? call : 1, call > 0);
	return c == '\'' || c == '"' ? read_string(p) : read_word(p);
}

bool python_literal(struct str text, size_t *used, struct buf *out)
{
	struct python p = {.rest = text, .out = out};
	size_t before = out->n;
	bool good;

	do {
		skip_blanks(&p);
		good = take_token(&p);
	} while (good && p.depth);
	if (!good || out->full || !json_is_valid(str_skip(buf_view(out), before))) {
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
