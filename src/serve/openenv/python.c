/* Python's str, repr and JSON errors: see python.h. */
#include "serve/openenv/python.h"

#include "base/text.h"
#include "json/scan.h"
#include "json/write.h"

#define CUT_ABOVE 50
#define CUT_HEAD  25
#define CUT_TAIL  24

static bool is_whole(struct str number)
{
	for (size_t i = 0; i < number.n; i++) {
		if (strchr(".eE", number.p[i])) {
			return false;
		}
	}
	return true;
}

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
		return is_whole(value) ? "int" : "float";
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
	const char *letters = c == '\n' ? "\\n" : c == '\r' ? "\\r" : c == '\t' ? "\\t" : NULL;

	if (letters) {
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

/* In single quotes, unless the text contains one and no double quote. */
static void add_text(struct str text, struct buf *out)
{
	bool single = text.n > 0 && memchr(text.p, '\'', text.n) != NULL;
	char quote = single && !memchr(text.p, '"', text.n) ? '"' : '\'';

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
	if (!strchr("{}[],: \t\r\n", s.p[0])) {
		while (n < s.n && !strchr("{}[],: \t\r\n", s.p[n])) {
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

static void each_token(struct str value, void (*add)(struct str token, struct buf *out),
                       struct buf *out)
{
	while (value.n > 0) {
		struct str token = {value.p, token_length(value)};

		add(token, out);
		value = str_skip(value, token.n);
	}
}

void python_str(struct str value, struct buf *out)
{
	if (json_type(value) == JSON_STRING) {
		json_decode(value, out);
	} else {
		each_token(value, add_token, out);
	}
}

void python_repr_cut(struct str value, struct buf *out)
{
	struct buf whole = BUF(BUF_MAX_MESSAGE);

	each_token(value, add_token, &whole);
	struct str s = buf_view(&whole);
	size_t count = text_utf8_count(s);

	if (count <= CUT_ABOVE) {
		buf_str(out, s);
	} else {
		buf_str(out, (struct str){s.p, character(s, CUT_HEAD)});
		buf_text(out, "...");
		buf_str(out, str_skip(s, character(s, count - CUT_TAIL)));
	}
	buf_release(&whole);
}

static void add_number(struct str number, struct buf *out)
{
	struct json_writer w;
	size_t before = out->n;
	double value = 0;

	if (is_whole(number)) {
		buf_str(out, str_is(number, "-0") ? STR("0") : number);
		return;
	}
	jw_init(&w, out);
	json_double(number, &value);
	jw_double(&w, value);
	if (is_whole((struct str){out->p + before, out->n - before})) {
		buf_text(out, ".0");
	}
}

static void add_json(struct str token, struct buf *out)
{
	struct buf text = BUF(BUF_MAX_MESSAGE);

	if (token.p[0] == '"') {
		json_decode(token, &text);
		json_quote(out, buf_view(&text));
	} else if (json_type(token) == JSON_NUMBER) {
		add_number(token, out);
	} else if (!strchr(" \t\r\n", token.p[0])) {
		buf_str(out, token);
	}
	buf_release(&text);
}

void python_json(struct str value, struct buf *out)
{
	each_token(value, add_json, out);
}

/* ---- errors of json.loads() ---- */

#define NO_VALUE "Expecting value"
#define NO_KEY   "Expecting property name enclosed in double quotes"
#define NO_COLON "Expecting ':' delimiter"
#define NO_COMMA "Expecting ',' delimiter"

static const struct {
	const char *why; /* the beginning of our scanner's message */
	const char *said;
	size_t before; /* bytes before the position the scanner reports */
} validation_errors[] = {
	{"expected a key", NO_KEY, 0},
	{"expected ':'", NO_COLON, 0},
	{"expected ','", NO_COMMA, 0},
	{"expected a digit", NO_COMMA, 1},
	{"a number must not", NO_COMMA, 0},
	{"unexpected text", "Extra data", 0},
	{"control character", "Invalid control character at", 0},
	{"unknown escape", "Invalid \\escape", 1},
	{"expected 4 hex", "Invalid \\uXXXX escape", 0},
	{"expected a value, found a byte", "Unexpected UTF-8 BOM (decode using utf-8-sig)", 0},
};

/* For text that ends too early: the expected token depends on the last one. An unterminated
   string is reported at its start. */
static const char *end_of_text(struct str text, size_t *at)
{
	char last = '\0';

	for (struct str rest = text; rest.n > 0;) {
		size_t n = 1;

		if (rest.p[0] == '"') {
			while (n < rest.n && rest.p[n] != '"') {
				n += rest.p[n] == '\\' ? 2 : 1;
			}
			if (n >= rest.n) {
				*at = (size_t)(rest.p - text.p);
				return "Unterminated string starting at";
			}
			n++;
		}
		if (!strchr(" \t\r\n", rest.p[0])) {
			last = rest.p[0];
		}
		rest = str_skip(rest, n);
	}
	*at = text.n;
	return last == '{' ? NO_KEY : last == '"' ? NO_COLON : NO_VALUE;
}

const char *python_json_error(struct str text, const struct json_fault *fault, size_t *at)
{
	*at = fault->at;
	if (*at >= text.n) {
		return end_of_text(text, at);
	}
	for (size_t i = 0; i < ARRAY_LEN(validation_errors); i++) {
		if (str_starts(str_from(fault->why), str_from(validation_errors[i].why))) {
			*at -= validation_errors[i].before < *at ? validation_errors[i].before
			                                         : *at;
			return validation_errors[i].said;
		}
	}
	while (*at > 0 && text.p[*at - 1] >= 'a' && text.p[*at - 1] <= 'z') {
		--*at; /* json.loads() reports an unknown word at its start */
	}
	return NO_VALUE;
}
