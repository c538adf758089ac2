/* Converts between strings as spelled in quotes and their text. */
#include "json/scan.h"

#include "base/text.h"
#include "json/lex.h"
#include "json/write.h"

static uint32_t hex4(const unsigned char *p)
{
	uint32_t unit = 0;

	for (size_t i = 0; i < 4; i++)
		unit = unit << 4 | (is_digit(p[i]) ? p[i] & 0xfu : (p[i] & 0xfu) + 9);
	return unit;
}

uint32_t lex_unescape(const unsigned char **p, const unsigned char *end)
{
	static const unsigned char named[256] = {
		['"'] = '"',  ['\\'] = '\\', ['/'] = '/',  ['b'] = '\b',
		['f'] = '\f', ['n'] = '\n',  ['r'] = '\r', ['t'] = '\t',
	};
	const unsigned char *at = *p;

	if (at[1] != 'u') {
		*p = at + 2;
		return named[at[1]];
	}
	uint32_t unit = hex4(at + 2);
	*p = at += 6;
	if (unit >> 10 != 0xd800 >> 10 || end - at < 6 || at[0] != '\\' || at[1] != 'u')
		return unit;
	uint32_t low = hex4(at + 2);
	if (low >> 10 != 0xdc00 >> 10)
		return unit;
	*p = at + 6;
	return 0x10000 + ((unit & 0x3ff) << 10 | (low & 0x3ff));
}

static size_t put_hex4(uint32_t unit, char out[6])
{
	static const char digits[] = "0123456789abcdef";

	out[0] = '\\';
	out[1] = 'u';
	for (size_t i = 0; i < 4; i++)
		out[2 + i] = digits[unit >> (12 - 4 * i) & 0xf];
	return 6;
}

size_t lex_text(uint32_t code, char out[6])
{
	return lex_is_surrogate(code) ? put_hex4(code, out) : utf8_encode(code, out);
}

size_t lex_canonical(uint32_t code, char out[6])
{
	static const char named[] = {
		['\b'] = 'b', ['\t'] = 't', ['\n'] = 'n',  ['\f'] = 'f',
		['\r'] = 'r', ['"'] = '"',  ['\\'] = '\\',
	};

	if (code < sizeof(named) && named[code]) {
		out[0] = '\\';
		out[1] = named[code];
		return 2;
	}
	return code < 0x20 ? put_hex4(code, out) : lex_text(code, out);
}

bool lex_decode(struct str inner, char *out, size_t *n)
{
	const unsigned char *p = lex_begin(inner), *end = lex_end(inner);
	char *begin = out;
	bool all = true;

	while (p < end) {
		const unsigned char *escape = memchr(p, '\\', (size_t)(end - p));
		size_t plain = (size_t)((escape ? escape : end) - p);

		memcpy(out, p, plain);
		p += plain;
		out += plain;
		if (!escape)
			break;
		char text[6];
		uint32_t code = lex_unescape(&p, end);
		if (code < 0x80) {
			*out++ = (char)code;
			continue;
		}
		size_t length = lex_text(code, text);
		memcpy(out, text, length);
		out += length;
		all = all && !lex_is_surrogate(code);
	}
	*n = (size_t)(out - begin);
	return all;
}

bool json_decode_key(struct str key, struct buf *out)
{
	char *room = buf_room(out, key.n);
	size_t n;

	if (!room)
		return false;
	bool all = lex_decode(key, room, &n);
	out->n += n;
	out->p[out->n] = '\0';
	return all;
}

bool json_decode(struct str string, struct buf *out)
{
	return json_decode_key(json_inner(string), out);
}

struct str json_key_text(struct arena *a, struct str key)
{
	char *room = arena_new(a, key.n + 1);
	struct str text = {room, 0};

	lex_decode(key, room, &text.n);
	return text;
}

struct str json_text(struct arena *a, struct str string)
{
	return json_type(string) == JSON_STRING ? json_key_text(a, json_inner(string)) : STR_NONE;
}

void json_text_or_json(struct str value, struct buf *out)
{
	if (json_type(value) == JSON_STRING)
		json_decode(value, out);
	else
		buf_str(out, value);
}

bool lex_escaped_is(struct str inner, struct str decoded)
{
	const unsigned char *p = lex_begin(inner), *end = lex_end(inner);

	while (p < end) {
		char text[6];
		size_t n = 1;

		if (*p == '\\')
			n = lex_text(lex_unescape(&p, end), text);
		else
			text[0] = (char)*p++;
		if (!str_starts(decoded, (struct str){text, n}))
			return false;
		decoded = str_skip(decoded, n);
	}
	return decoded.n == 0;
}

bool json_is(struct str string, struct str decoded)
{
	struct str inner = json_inner(string);

	return inner.p && lex_key_is(inner, decoded);
}

bool json_key_is(struct str key, struct str decoded)
{
	return lex_key_is(key, decoded);
}

bool json_same_text(struct str a, struct str b)
{
	if (json_type(a) != JSON_STRING || json_type(b) != JSON_STRING)
		return false;
	if (!json_has_escape(b))
		return json_is(a, json_inner(b));
	AUTO_ARENA arena = {0};
	return json_is(a, json_text(&arena, b));
}

bool json_has_escape(struct str string)
{
	return string.n && memchr(string.p, '\\', string.n);
}

/* Appends the byte or character at p, which is not plain, and returns what is after it. */
static const unsigned char *put_special(const unsigned char *p, const unsigned char *end,
                                        struct buf *out)
{
	char text[6];
	uint32_t code;

	if (*p < 0x80) {
		buf_add(out, text, lex_canonical(*p, text));
		return p + 1;
	}
	size_t n = utf8_decode(lex_slice(p, end), &code);
	if (n == 0) {
		buf_text(out, "\xef\xbf\xbd"); /* U+FFFD */
		return p + 1;
	}
	buf_add(out, p, n);
	return p + n;
}

void json_quote(struct buf *out, struct str s)
{
	const unsigned char *p = lex_begin(s), *end = lex_end(s);

	buf_char(out, '"');
	while (p < end) {
		const unsigned char *special = run_plain(p, end);

		buf_add(out, p, (size_t)(special - p));
		p = special < end ? put_special(special, end, out) : end;
	}
	buf_char(out, '"');
}

/* ---- words ---- */

static const bool separators[256] = {
	[0] = true,   [1] = true,   [2] = true,   [3] = true,    [4] = true,   [5] = true,
	[6] = true,   [7] = true,   [8] = true,   [9] = true,    [10] = true,  [11] = true,
	[12] = true,  [13] = true,  [14] = true,  [15] = true,   [16] = true,  [17] = true,
	[18] = true,  [19] = true,  [20] = true,  [21] = true,   [22] = true,  [23] = true,
	[24] = true,  [25] = true,  [26] = true,  [27] = true,   [28] = true,  [29] = true,
	[30] = true,  [31] = true,  [' '] = true, ['"'] = true,  [','] = true, [';'] = true,
	['='] = true, ['<'] = true, ['>'] = true, ['('] = true,  [')'] = true, ['['] = true,
	[']'] = true, ['{'] = true, ['}'] = true, ['\\'] = true, ['/'] = true, ['|'] = true,
};

/* Does a separator begin at the backslash? *after is where the next character begins. */
static bool is_escaped_separator(const unsigned char *p, const unsigned char *end,
                                 const unsigned char **after)
{
	*after = p;
	const uint32_t code = lex_unescape(after, end);

	return code < ARRAY_LEN(separators) && separators[code];
}

bool json_next_word(struct str inner, size_t *at, struct str *word)
{
	const struct str rest = str_skip(inner, *at);
	const unsigned char *end = lex_end(rest), *p = lex_begin(rest), *from, *next;

	while (p < end && separators[*p]) {
		next = p + 1;
		if (*p == '\\' && !is_escaped_separator(p, end, &next))
			break;
		p = next;
	}
	from = p;
	while (p < end) {
		next = p + 1;
		if (separators[*p] && (*p != '\\' || is_escaped_separator(p, end, &next)))
			break;
		p = next;
	}
	*word = lex_slice(from, p);
	*at += (size_t)(p - lex_begin(rest));
	return word->n > 0;
}

void jw_put_members(struct json_writer *w, struct str object)
{
	struct json_member m;

	for (size_t cursor = 0; json_next_member(object, &cursor, &m);) {
		jw_key_spelled(w, m.key);
		jw_raw(w, m.value);
	}
}
