/* One pass over the tokens of a validated JSON value: see python.h. */
#include "serve/python.h"

#include "json/scan.h"

#define CUT_ABOVE 50
#define CUT_HEAD  25
#define CUT_TAIL  24

const char *python_type(struct str value)
{
	switch (json_type(value)) {
	case JSON_OBJECT:
		return "dict";
	case JSON_ARRAY:
		return "list";
	case JSON_STRING:
		return "str";
	case JSON_NUMBER:
		for (size_t i = 0; i < value.n; i++) {
			if (strchr(".eE", value.p[i])) {
				return "float";
			}
		}
		return "int";
	case JSON_TRUE:
	case JSON_FALSE:
		return "bool";
	case JSON_NULL:
	case JSON_ABSENT:
		break;
	}
	return "NoneType";
}

static void add_character(unsigned char c, char quote, struct buf *out)
{
	const char *letters = c == '\n'   ? "\\n"
	                      : c == '\r' ? "\\r"
	                      : c == '\t' ? "\\t"
	                                  : NULL;

	if (letters != NULL) {
		buf_text(out, letters);
	} else if (c < ' ' || c == 0x7f) {
		buf_printf(out, "\\x%02x", c);
	} else {
		if (c == (unsigned char)quote || c == '\\') {
			buf_char(out, '\\');
		}
		buf_char(out, (char)c);
	}
}

/* Between single quotes, unless it has one and no double quote. */
static void add_text(struct str text, struct buf *out)
{
	bool single = text.n > 0 && memchr(text.p, '\'', text.n) != NULL;
	char quote = single && memchr(text.p, '"', text.n) == NULL ? '"' : '\'';

	buf_char(out, quote);
	for (size_t i = 0; i < text.n; i++) {
		add_character((unsigned char)text.p[i], quote, out);
	}
	buf_char(out, quote);
}

/* The length of the token at the start of s: a string, a mark, or a word or number. */
static size_t token_length(struct str s)
{
	size_t n = 1;

	if (s.p[0] == '"') {
		while (s.p[n] != '"') {
			n += s.p[n] == '\\' ? 2 : 1;
		}
		return n + 1;
	}
	if (strchr("{}[],: \t\r\n", s.p[0]) == NULL) {
		while (n < s.n && strchr("{}[],: \t\r\n", s.p[n]) == NULL) {
			n++;
		}
	}
	return n;
}

static void add_token(struct str token, struct buf *out)
{
	struct buf text = BUF(BUF_MAX_MESSAGE);

	switch (token.p[0]) {
	case '"':
		json_decode(token, &text);
		add_text(buf_view(&text), out);
		break;
	case 't':
		buf_text(out, "True");
		break;
	case 'f':
		buf_text(out, "False");
		break;
	case 'n':
		buf_text(out, "None");
		break;
	case ',':
		buf_text(out, ", ");
		break;
	case ':':
		buf_text(out, ": ");
		break;
	case ' ':
	case '\t':
	case '\r':
	case '\n':
		break;
	default:
		buf_str(out, token);
	}
	buf_release(&text);
}

/* The byte at which character number `nth` begins. */
static size_t character(struct str s, size_t nth)
{
	size_t i = 0;

	for (; i < s.n; i++) {
		if (((unsigned char)s.p[i] & 0xc0) != 0x80 && nth-- == 0) {
			break;
		}
	}
	return i;
}

static size_t characters(struct str s)
{
	size_t count = 0;

	for (size_t i = 0; i < s.n; i++) {
		count += ((unsigned char)s.p[i] & 0xc0) != 0x80;
	}
	return count;
}

void python_repr_cut(struct str value, struct buf *out)
{
	struct buf whole = BUF(BUF_MAX_MESSAGE);

	while (value.n > 0) {
		struct str token = {value.p, token_length(value)};

		add_token(token, &whole);
		value = str_skip(value, token.n);
	}
	struct str s = buf_view(&whole);
	size_t count = characters(s);

	if (count <= CUT_ABOVE) {
		buf_str(out, s);
	} else {
		buf_str(out, (struct str){s.p, character(s, CUT_HEAD)});
		buf_text(out, "...");
		buf_str(out, str_skip(s, character(s, count - CUT_TAIL)));
	}
	buf_release(&whole);
}
