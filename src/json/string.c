/* Converts between strings as spelled in quotes and their text. */
#include "json/scan.h"

#include "json/lex.h"
#include "json/write.h"

static uint32_t hex4(const unsigned char *p)
{
	uint32_t unit = 0;

	for (size_t i = 0; i < 4; i++) {
		unit = unit << 4 | (is_digit(p[i]) ? p[i] & 0xfu : (p[i] & 0xfu) + 9);
	}
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
	if (unit >> 10 != 0xd800 >> 10 || end - at < 6 || at[0] != '\\' || at[1] != 'u') {
		return unit;
	}
	uint32_t low = hex4(at + 2);
	if (low >> 10 != 0xdc00 >> 10) {
		return unit;
	}
	*p = at + 6;
	return 0x10000 + ((unit & 0x3ff) << 10 | (low & 0x3ff));
}

static size_t put_hex4(uint32_t unit, char out[6])
{
	static const char digits[] = "0123456789abcdef";

	out[0] = '\\';
	out[1] = 'u';
	for (size_t i = 0; i < 4; i++) {
		out[2 + i] = digits[unit >> (12 - 4 * i) & 0xf];
	}
	return 6;
}

static size_t put_utf8(uint32_t code, char out[6])
{
	if (code < 0x80) {
		out[0] = (char)code;
		return 1;
	}
	size_t n = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
	for (size_t i = n - 1; i > 0; i--, code >>= 6) {
		out[i] = (char)(0x80 | (code & 0x3f));
	}
	out[0] = (char)(0xf00 >> n | code);
	return n;
}

size_t lex_text(uint32_t code, char out[6])
{
	return lex_is_surrogate(code) ? put_hex4(code, out) : put_utf8(code, out);
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
		const unsigned char *run = memchr(p, '\\', (size_t)(end - p));
		size_t plain = (size_t)((run ? run : end) - p);
		char text[6];

		memcpy(out, p, plain);
		out += plain;
		p += plain;
		if (p < end) {
			uint32_t code = lex_unescape(&p, end);
			size_t length = lex_text(code, text);

			memcpy(out, text, length);
			out += length;
			all = all && !lex_is_surrogate(code);
		}
	}
	*n = (size_t)(out - begin);
	return all;
}

bool json_decode_key(struct str key, struct buf *out)
{
	char *room = buf_room(out, key.n);
	size_t n;

	if (!room) {
		return false;
	}
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
	if (json_type(value) == JSON_STRING) {
		json_decode(value, out);
	} else {
		buf_str(out, value);
	}
}

bool lex_rest_is(struct str inner, struct str decoded)
{
	if (!json_has_escape(inner)) {
		return str_eq(inner, decoded);
	}
	const unsigned char *p = lex_begin(inner), *end = lex_end(inner);
	while (p < end) {
		char text[6];
		size_t n = 1;

		if (*p == '\\') {
			n = lex_text(lex_unescape(&p, end), text);
		} else {
			text[0] = (char)*p++;
		}
		if (!str_starts(decoded, (struct str){text, n})) {
			return false;
		}
		decoded = str_skip(decoded, n);
	}
	return decoded.n == 0;
}

bool json_is(struct str string, struct str decoded)
{
	return json_type(string) == JSON_STRING && lex_key_is(json_inner(string), decoded);
}

bool json_key_is(struct str key, struct str decoded)
{
	return lex_key_is(key, decoded);
}

bool json_same_text(struct str a, struct str b)
{
	if (json_type(a) != JSON_STRING || json_type(b) != JSON_STRING) {
		return false;
	}
	if (!json_has_escape(b)) {
		return json_is(a, json_inner(b));
	}
	struct arena arena = {0};
	bool same = json_is(a, json_text(&arena, b));
	arena_release(&arena);
	return same;
}

bool json_has_escape(struct str string)
{
	return string.n && memchr(string.p, '\\', string.n);
}

#define SHORT_BYTES 64

/* Are all of the n bytes plain? The last word overlaps the one before it. */
static bool is_plain_short(const unsigned char *p, size_t n)
{
	uint32_t first, last;

	if (n >= 8) {
		uint64_t marks = word_not_plain(word_load(p + n - 8));

		for (size_t i = 0; i + 8 < n; i += 8) {
			marks |= word_not_plain(word_load(p + i));
		}
		return marks == 0;
	}
	if (n >= 4) {
		memcpy(&first, p, 4);
		memcpy(&last, p + n - 4, 4);
		return word_not_plain((uint64_t)first << 32 | last) == 0;
	}
	for (size_t i = 0; i < n; i++) {
		if (!is_plain(p[i])) {
			return false;
		}
	}
	return true;
}

/* A string without escapes, in one piece: most are keys and words. */
static void put_plain(struct buf *out, struct str s)
{
	char *to = buf_room(out, s.n + 2);

	if (!to) {
		return;
	}
	to[0] = '"';
	if (s.n) {
		memcpy(to + 1, s.p, s.n);
	}
	to[s.n + 1] = '"';
	to[s.n + 2] = '\0';
	out->n += s.n + 2;
}

void json_quote(struct buf *out, struct str s)
{
	static const char replacement[] = "\xef\xbf\xbd";
	const unsigned char *p = lex_begin(s), *end = s.n ? lex_end(s) : p;

	if (s.n <= SHORT_BYTES && is_plain_short(p, s.n)) {
		put_plain(out, s);
		return;
	}
	buf_char(out, '"');
	while (p < end) {
		const unsigned char *run = p;
		char text[6];

		p = run_plain(p, end);
		buf_add(out, run, (size_t)(p - run));
		if (p == end) {
			break;
		}
		size_t n = utf8_length(p, end);
		if (n == 0) {
			buf_text(out, replacement);
			p++;
		} else if (n == 1) {
			buf_add(out, text, lex_canonical(*p++, text));
		} else {
			buf_add(out, p, n);
			p += n;
		}
	}
	buf_char(out, '"');
}
