/* Replaces secrets in everything written: see redact.h. */
#include "recording/redact/redact.h"

#include "base/base64.h"
#include "base/mem.h"
#include "base/text.h"
#include "json/scan.h"
#include "recording/line.h"
#include "recording/redact/replacer.h"

#include <stdlib.h>

/* ---- spellings ---- */

/* A text matches in any spelling that a peer may repeat it in: unchanged, or with the escapes of
   JSON, C, Python, URLs or HTML, also nested (JSON in a string of JSON). Both the text and what is
   searched are read as if all escapes had been decoded as often as possible, so that any number of
   levels gives the same; what a longer escape would hide (the text ends with a percent sign) is
   found by comparing the byte itself, too. */

#define NESTED_MAX 64 /* backslashes, or levels of one escape */

/* One byte or character, and the length of its spelling. */
struct spelled {
	char bytes[4];
	size_t n, used;
};

static struct spelled spelled_byte(char byte, size_t used)
{
	return (struct spelled){{byte}, 1, used};
}

/* used 0: it is no character. */
static struct spelled spelled_code(uint32_t code, size_t used)
{
	struct spelled x = {.used = code <= 0x10ffff ? used : 0};

	x.n = x.used ? utf8_encode(code, x.bytes) : 0;
	return x;
}

static char at_of(struct str s, size_t at)
{
	return at < s.n ? s.p[at] : '\0';
}

/* Reads at most max digits; returns their number. */
static size_t read_digits(struct str s, unsigned base, size_t max, uint32_t *value)
{
	size_t n = 0;

	*value = 0;
	for (; n < max && n < s.n; n++) {
		unsigned c = (unsigned char)s.p[n], letter = (c | 32) - 'a';
		unsigned digit = c - '0' < 10 ? c - '0' : letter < 6 ? letter + 10 : 99;

		if (digit >= base)
			break;
		*value = *value * base + digit;
	}
	return n;
}

static size_t backslashes(struct str s)
{
	size_t n = 0;

	while (n < NESTED_MAX && at_of(s, n) == '\\')
		n++;
	return n;
}

/* Reads the digits after \u: four, or up to six in braces. Returns their length including
   braces; 0: none. */
static size_t read_unicode(struct str s, uint32_t *code)
{
	if (at_of(s, 0) != '{')
		return read_digits(s, 16, 4, code) == 4 ? 4 : 0;
	size_t n = read_digits(str_skip(s, 1), 16, 6, code);

	return n && at_of(s, n + 1) == '}' ? n + 2 : 0;
}

/* \x41, \u0041, a surrogate with its second half; with any number of backslashes. */
static struct spelled read_backslash(struct str s)
{
	size_t run = backslashes(s), at = run + 1, n;
	uint32_t code, low = 0;
	struct spelled x = {.used = 0};

	if (at_of(s, at - 1) == 'x' && read_digits(str_skip(s, at), 16, 2, &code) == 2)
		return spelled_byte((char)code, at + 2);
	n = at_of(s, at - 1) == 'u' ? read_unicode(str_skip(s, at), &code) : 0;
	at += n;
	if (n && code >= 0xd800 && code < 0xdc00) {
		size_t more = backslashes(str_skip(s, at));

		n = more && at_of(s, at + more) == 'u'
		            ? read_digits(str_skip(s, at + more + 1), 16, 4, &low)
		            : 0;
		code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
		at += more + 1 + n;
	}
	if (n >= 3)
		x = spelled_code(code, at);
	return x.used ? x : spelled_byte('\\', run);
}

/* %41, %2541, ... */
static struct spelled read_percent(struct str s)
{
	struct spelled x = spelled_byte('%', 1);
	uint32_t code = '%';

	while (code == '%' && x.used < NESTED_MAX &&
	       read_digits(str_skip(s, x.used), 16, 2, &code) == 2)
		x = spelled_byte((char)code, x.used + 2);
	return x;
}

/* &lt; &#60; &#x3c; &amp;lt; */
static struct spelled read_entity(struct str s)
{
	static const struct {
		struct str name;
		char byte;
	} names[] = {{STR_INIT("lt;"), '<'},
	             {STR_INIT("gt;"), '>'},
	             {STR_INIT("quot;"), '"'},
	             {STR_INIT("apos;"), '\''}};
	struct str amp = STR("amp;");
	struct spelled x = {.used = 0};
	size_t at = 1;
	uint32_t code;

	while (at < NESTED_MAX && str_starts(str_skip(s, at), amp))
		at += amp.n;
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (str_starts(str_skip(s, at), names[i].name))
			return spelled_byte(names[i].byte, at + names[i].name.n);
	if (at_of(s, at) == '#') {
		bool hex = (at_of(s, at + 1) | 32) == 'x';
		size_t from = at + 1 + hex,
		       n = read_digits(str_skip(s, from), hex ? 16 : 10, 7, &code);

		if (n && at_of(s, from + n) == ';')
			x = spelled_code(code, from + n + 1);
	}
	return x.used ? x : spelled_byte('&', at);
}

/* Can this byte begin an escape? */
static bool is_escape(char c)
{
	return c == '\\' || c == '%' || c == '&' || c == '+';
}

/* A byte, or the escape of a character by its number or name. */
static struct spelled read_reference(struct str s)
{
	char c = at_of(s, 0);

	return c == '\\'  ? read_backslash(s)
	       : c == '%' ? read_percent(s)
	       : c == '&' ? read_entity(s)
	       : c == '+' ? spelled_byte(' ', 1)
	                  : spelled_byte(c, s.n > 0);
}

/* What s, which is not empty, begins with. Backslashes that escape no letter count as one. */
static struct spelled read_spelled(struct str s)
{
	static const char letters[] = "nrtbf\"'/", stands_for[] = "\n\r\t\b\f\"'/";
	struct spelled x = read_reference(s);
	size_t run = 0;

	if (!is_escape(s.p[0]))
		return x;
	for (; run < NESTED_MAX && x.bytes[0] == '\\'; x = read_reference(str_skip(s, run)))
		run += x.used;
	if (run) {
		const char *letter = x.bytes[0] ? strchr(letters, x.bytes[0]) : NULL;

		return letter ? spelled_byte(stands_for[letter - letters], run + x.used)
		              : spelled_byte('\\', run);
	}
	if (x.bytes[0] == '+')
		x.bytes[0] = ' ';
	return x;
}

/* The length of what separates two bytes of a text. */
static size_t gap_length(struct str s, const char *between)
{
	size_t n = 0, run;
	char c;

	for (;;) {
		c = at_of(s, n);
		run = backslashes(str_skip(s, n));
		if (c && (strchr(between, c) || (n && strchr(" \t\r\n", c))))
			n++;
		else if (run && (at_of(s, n + run) == 'n' || at_of(s, n + run) == 'r'))
			n += run + 1;
		else
			return n;
	}
}

/* Returns how many bytes of `text`, which was read by read_spelled, are spelled by the start of s;
   *used: the number of bytes of s that spell them. between: bytes that may separate those of the
   text, and white space may follow them: the line feed of a text that was wrapped, also escaped. */
static size_t spelling_match(struct str text, struct str s, const char *between, size_t *used)
{
	size_t matched = 0, at = 0;

	*used = 0;
	while (matched < text.n && at < s.n) {
		const struct str left = str_skip(text, matched);
		struct spelled x = read_spelled(str_skip(s, at));

		if (!str_starts(left, (struct str){x.bytes, x.n}))
			x = spelled_byte(s.p[at], 1);
		if (str_starts(left, (struct str){x.bytes, x.n})) {
			matched += x.n;
			at += x.used;
			*used = at;
			continue;
		}
		size_t gap = matched ? gap_length(str_skip(s, at), between) : 0;
		if (!gap)
			break;
		at += gap;
	}
	return matched;
}

/* ---- secrets ---- */

#define PART_MIN 8  /* shortest line of a secret, string in it, or prefix of it that is redacted */
#define CUT_MIN  16 /* a prefix of it that no other text has: redacted wherever it is cut */
#define CODE_MIN 6  /* digits of base64 that are unlikely to match by chance */

static const char line_ends[] = "\r\n", separators[] = "\r\n\t :,-";

struct needle {
	struct str text;     /* as read by read_spelled */
	const char *between; /* see spelling_match */
};

struct secrets {
	struct needle *needles; /* the secrets, and their base64 and hex forms */
	size_t count;
	struct arena texts;
	/* One bit for each pair of bytes that can begin a needle, in any spelling. For almost
	   all text this is the only test. */
	uint64_t pairs[256][4];
};

struct secrets *secrets_new(void)
{
	return mem_new(sizeof(struct secrets));
}

void secrets_free(struct secrets *s)
{
	if (!s)
		return;
	arena_release(&s->texts);
	free(s->needles);
	free(s);
}

/* ---- needles ---- */

static void add_pair(struct secrets *s, char first, char second)
{
	s->pairs[(unsigned char)first][(unsigned char)second / 64] |=
		(uint64_t)1 << ((unsigned char)second % 64);
}

static void read_all(struct str text, struct buf *out)
{
	while (text.n) {
		struct spelled x = read_spelled(text);

		buf_add(out, x.bytes, x.n);
		text = str_skip(text, x.used);
	}
}

static bool has_needle(const struct secrets *s, struct str text)
{
	for (size_t i = 0; i < s->count; i++)
		if (str_eq(s->needles[i].text, text))
			return true;
	return false;
}

/* False: the text is too short without its escapes, and not added. */
static bool add_needle(struct secrets *s, struct str spelling, const char *between)
{
	AUTO_BUF read = BUF(spelling.n + 1);

	read_all(spelling, &read);
	struct str text = buf_view(&read);
	if (text.n < SECRET_MIN || has_needle(s, text))
		return text.n >= SECRET_MIN;
	s->needles = mem_grow(s->needles, s->count, sizeof(*s->needles));
	s->needles[s->count++] = (struct needle){arena_str(&s->texts, text), between};
	for (int c = 0; c < 256; c++) {
		if (is_escape((char)c)) {
			memset(s->pairs[c], 0xff, sizeof(s->pairs[c]));
			add_pair(s, text.p[0], (char)c);
		}
	}
	add_pair(s, text.p[0], text.p[1]);
	add_pair(s, text.p[0], '\n');
	add_pair(s, text.p[0], '\r');
	return true;
}

/* Adds the digits in both alphabets of RFC 4648. */
static void add_base64_digits(struct secrets *s, struct str digits)
{
	AUTO_BUF url = BUF(BUF_MAX_MESSAGE);

	add_needle(s, digits, line_ends);
	buf_str(&url, digits);
	for (size_t i = 0; i < url.n; i++)
		url.p[i] = (char)(url.p[i] == '+' ? '-' : url.p[i] == '/' ? '_' : url.p[i]);
	add_needle(s, buf_view(&url), line_ends);
}

/* The base64 digits that depend on the value alone, for a value preceded by 0, 1 or 2 bytes within
   a group of three; empty: too few. */
static struct str base64_digits(struct str value, size_t before, struct buf *digits)
{
	AUTO_BUF group = BUF(BUF_MAX_MESSAGE);
	size_t foreign = (before * 8 + 5) / 6, whole = (before + value.n) * 8 / 6;

	buf_add(&group, "..", before);
	buf_str(&group, value);
	buf_clear(digits);
	base64_encode(digits, buf_view(&group));
	return !digits->full && whole >= foreign + CODE_MIN
	               ? (struct str){digits->p + foreign, whole - foreign}
	               : STR("");
}

static void add_base64(struct secrets *s, struct str value)
{
	AUTO_BUF digits = BUF(2 * BUF_MAX_MESSAGE);

	for (size_t before = 0; before < 3; before++)
		add_base64_digits(s, base64_digits(value, before, &digits));
}

static void add_hex(struct secrets *s, struct str value, const char *sixteen)
{
	AUTO_BUF digits = BUF(BUF_MAX_MESSAGE);

	for (size_t i = 0; i < value.n; i++) {
		buf_char(&digits, sixteen[(unsigned char)value.p[i] >> 4]);
		buf_char(&digits, sixteen[(unsigned char)value.p[i] & 15]);
	}
	if (!digits.full)
		add_needle(s, buf_view(&digits), value.n < PART_MIN ? line_ends : separators);
}

static bool add_value(struct secrets *s, struct str value)
{
	if (!add_needle(s, value, line_ends))
		return false;
	add_base64(s, value);
	add_hex(s, value, "0123456789abcdef");
	add_hex(s, value, "0123456789ABCDEF");
	return true;
}

static void add_lines(struct secrets *s, struct str value)
{
	while (value.n) {
		struct str line = text_trim(str_cut(&value, '\n'));

		if (line.n >= PART_MIN)
			add_value(s, line);
	}
}

static void add_strings(struct secrets *s, struct str json)
{
	AUTO_BUF text = BUF(BUF_MAX_MESSAGE);
	struct str string;

	for (size_t cursor = 0; json_next_string(json, &cursor, &string);) {
		buf_clear(&text);
		json_decode(string, &text);
		if (text.n >= PART_MIN)
			add_value(s, buf_view(&text));
	}
}

bool secrets_add(struct secrets *s, struct str value)
{
	value = text_trim(value);
	if (!add_value(s, value))
		return false;
	if (memchr(value.p, '\n', value.n))
		add_lines(s, value);
	if (json_is_valid(value))
		add_strings(s, value);
	return true;
}

/* ---- search ---- */

/* Is the matched prefix long enough to redact? A secret cut short in a message is followed by
   the end of the message or by other words. */
static bool is_enough(size_t matched, struct str needle, bool at_end)
{
	return matched == needle.n || matched >= CUT_MIN ||
	       (matched >= PART_MIN && (at_end || matched >= needle.n / 2));
}

/* The first position, not before `at`, where a secret may begin; never the last byte. */
static size_t next_candidate(const struct secrets *s, struct str text, size_t at)
{
	while (at + 1 < text.n) {
		unsigned char a = (unsigned char)text.p[at], b = (unsigned char)text.p[at + 1];

		if (s->pairs[a][b / 64] >> (b % 64) & 1)
			return at;
		at++;
	}
	return text.n;
}

/* The end of the longest secret that begins at text[at]; `at` if there is none. `inside`: the
   text may end within a larger one, so that a prefix is redacted anywhere. */
static size_t match_end(const struct secrets *s, struct str text, size_t at, bool inside)
{
	struct str here = str_skip(text, at);
	const char first = read_spelled(here).bytes[0];
	size_t end = at;

	for (size_t i = 0; i < s->count; i++) {
		struct str needle = s->needles[i].text;
		size_t used;

		if (needle.p[0] != first && needle.p[0] != here.p[0])
			continue;
		size_t matched = spelling_match(needle, here, s->needles[i].between, &used);
		if (at + used > end && is_enough(matched, needle, inside || at + used == text.n))
			end = at + used;
	}
	return end;
}

/* Overlapping secrets are one, because the rest of either would reveal part of it. */
static bool next_secret(const struct secrets *s, struct str text, bool inside, size_t *at,
                        size_t *end)
{
	for (; (*at = next_candidate(s, text, *at)) < text.n; ++*at) {
		*end = match_end(s, text, *at, inside);
		for (size_t i = *at + 1; i < *end; i++) {
			size_t other = match_end(s, text, i, inside);

			*end = other > i && other > *end ? other : *end;
		}
		if (*end > *at)
			return true;
	}
	return false;
}

static const char *find_secret(const void *ctx, struct str text, size_t *at, size_t *end)
{
	return next_secret(ctx, text, false, at, end) ? "<redacted>" : NULL;
}

void secrets_redact(const struct secrets *s, struct str text, struct buf *out)
{
	const struct text_replacer r = {.find = find_secret, .ctx = s};

	if (s && s->count)
		replace_text(&r, text, out);
	else
		buf_str(out, text);
}

/* ---- lines ---- */

/* Fixed words and numbers that rolldbg generates are kept. False: a value became too long. */
static bool redact_values(const struct secrets *s, struct line *l, struct arena *values, size_t max)
{
	const struct text_replacer replacer = {.find = find_secret, .ctx = s, .numbers = true};
	AUTO_BUF scratch = BUF(BUF_MAX_MESSAGE), redacted = BUF(max);
	size_t count;
	const struct line_key *rows = line_rows(l->type, &count);

	for (size_t i = 0; i < count && !redacted.full; i++) {
		struct str *value = &l->value[rows[i].key];

		if (rows[i].words || rows[i].key == KEY_STATE_HASH ||
		    !(rows[i].types & (T_STRING | T_ARRAY | T_OBJECT)))
			continue;
		buf_clear(&redacted);
		if (replace_json(&replacer, *value, &scratch, &redacted))
			*value = arena_str(values, buf_view(&redacted));
	}
	return !redacted.full;
}

void secrets_redact_line(const struct secrets *s, const struct line *l, struct buf *out,
                         size_t sizes[KEY_COUNT])
{
	size_t from = out->n, at = 0, end;

	line_write(l, out, sizes);
	struct str text = {out->p + from, out->n - from};
	if (!s || !s->count || out->full || !next_secret(s, text, true, &at, &end))
		return;
	AUTO_ARENA values = {0};
	struct line redacted = *l;
	out->full = !redact_values(s, &redacted, &values, out->max);
	buf_cut(out, from);
	line_write(&redacted, out, sizes);
}
