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
   JSON, C, Python, URLs or HTML, also nested (JSON in a string of JSON). An escape can have several
   meanings (%25 is a percent sign, or the start of one that was escaped twice), so matching is a
   search. The number of its steps is limited. */

#define MEANINGS   12 /* meanings of one escape */
#define PLACES     64 /* pending positions of the search */
#define TRIES_EACH 16 /* steps for each byte of the text */

/* What an escape may stand for, and its length. */
struct meaning {
	char bytes[4];
	size_t n, used;
};

struct meanings {
	struct meaning item[MEANINGS];
	size_t count;
};

static void add_code(struct meanings *m, uint32_t code, size_t used)
{
	struct meaning *x = &m->item[m->count];

	if (code <= 0x10ffff && m->count < MEANINGS) {
		x->n = utf8_encode(code, x->bytes);
		x->used = used;
		m->count++;
	}
}

/* The value of an escape for one byte, which need not be a character. */
static void add_byte(struct meanings *m, unsigned char byte, size_t used)
{
	if (m->count < MEANINGS)
		m->item[m->count++] = (struct meaning){{(char)byte}, 1, used};
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

	while (at_of(s, n) == '\\')
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

/* Reads \u with its backslashes and the letter before `at`; a surrogate with its second half. */
static void add_unicode(struct meanings *m, struct str s, size_t at)
{
	uint32_t code, low;
	size_t n = read_unicode(str_skip(s, at), &code);

	if (!n)
		return;
	at += n;
	if (code >= 0xd800 && code < 0xdc00) {
		size_t run = backslashes(str_skip(s, at));

		if (!run || at_of(s, at + run) != 'u' ||
		    read_digits(str_skip(s, at + run + 1), 16, 4, &low) != 4) {
			return;
		}
		code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
		at += run + 5;
	}
	add_code(m, code, at);
}

static void read_backslash(struct meanings *m, struct str s)
{
	static const char letters[] = "nrtbf\"'/", stands_for[] = "\n\r\t\b\f\"'/";
	size_t run = backslashes(s);
	char c = at_of(s, run);
	const char *known = c ? strchr(letters, c) : NULL;
	uint32_t code;

	for (size_t n = 2; n <= run && n <= 16; n *= 2)
		add_byte(m, '\\', n);
	if (known)
		add_byte(m, (unsigned char)stands_for[known - letters], run + 1);
	else if (c == 'u')
		add_unicode(m, s, run + 1);
	else if (c == 'x' && read_digits(str_skip(s, run + 1), 16, 2, &code) == 2)
		add_byte(m, (unsigned char)code, run + 3);
}

/* %41, %2541, ... */
static void read_percent(struct meanings *m, struct str s)
{
	uint32_t code = '%';

	for (size_t at = 1; code == '%' && read_digits(str_skip(s, at), 16, 2, &code) == 2; at += 2)
		add_byte(m, (unsigned char)code, at + 2);
}

static void read_entity(struct meanings *m, struct str s)
{
	static const struct {
		struct str name;
		char byte;
	} names[] = {{STR_INIT("lt;"), '<'},
	             {STR_INIT("gt;"), '>'},
	             {STR_INIT("quot;"), '"'},
	             {STR_INIT("apos;"), '\''}};
	struct str amp = STR("amp;");
	size_t at = 1;
	uint32_t code;

	for (; str_starts(str_skip(s, at), amp); at += amp.n)
		add_byte(m, '&', at + amp.n);
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (str_starts(str_skip(s, at), names[i].name))
			add_byte(m, (unsigned char)names[i].byte, at + names[i].name.n);
	if (at_of(s, at) == '#') {
		bool hex = at_of(s, at + 1) == 'x' || at_of(s, at + 1) == 'X';
		size_t from = at + 1 + hex,
		       n = read_digits(str_skip(s, from), hex ? 16 : 10, 7, &code);

		if (n && at_of(s, from + n) == ';')
			add_code(m, code, from + n + 1);
	}
}

/* Can this byte begin an escape? */
static bool is_escape(char c)
{
	return c == '\\' || c == '%' || c == '&' || c == '+';
}

static void read_escape(struct meanings *m, struct str s)
{
	char c = at_of(s, 0);

	if (c == '\\')
		read_backslash(m, s);
	else if (c == '%')
		read_percent(m, s);
	else if (c == '&')
		read_entity(m, s);
	else if (c == '+')
		add_byte(m, ' ', 1);
}

/* Can s, which begins with an escape, spell a text that begins with one of these bytes? */
static bool spelling_begins(struct str s, const bool bytes[256])
{
	struct meanings m;
	bool begins = bytes[(unsigned char)at_of(s, 0)];

	m.count = 0;
	read_escape(&m, s);
	for (size_t i = 0; i < m.count; i++)
		begins = begins || bytes[(unsigned char)m.item[i].bytes[0]];
	return begins;
}

/* The first `text` bytes of the text are spelled by the first `s` bytes of s. */
struct spelled {
	size_t text, s;
};

struct search {
	struct str text, s;
	const char *between;
	struct spelled open[PLACES];
	size_t count;
};

/* Advances over bytes that only stand for themselves. */
static struct spelled walk(const struct search *w, struct spelled p)
{
	while (p.text < w->text.n && p.s < w->s.n && w->text.p[p.text] == w->s.p[p.s] &&
	       !is_escape(w->s.p[p.s])) {
		p.text++;
		p.s++;
	}
	return p;
}

/* The length of what separates two bytes of the text. */
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

/* The literal byte is pushed last, so that it is tried first. */
static void branch(struct search *w, struct spelled p)
{
	struct meanings m;
	struct str left = str_skip(w->text, p.text);
	size_t gap = p.text ? gap_length(str_skip(w->s, p.s), w->between) : 0;

	if (gap && w->count < PLACES)
		w->open[w->count++] = (struct spelled){p.text, p.s + gap};
	m.count = 0;
	read_escape(&m, str_skip(w->s, p.s));
	add_byte(&m, (unsigned char)at_of(w->s, p.s), 1);
	for (size_t i = 0; i < m.count && w->count < PLACES; i++) {
		const struct meaning *x = &m.item[i];

		if (str_starts(left, (struct str){x->bytes, x->n}))
			w->open[w->count++] = (struct spelled){p.text + x->n, p.s + x->used};
	}
}

/* Returns how many bytes of `text`, from its first, are spelled by the start of s; *used: the
   number of bytes of s that spell them. between: bytes that may separate those of the text, and
   white space may follow them: the line feed of a text that was wrapped, also escaped. */
static size_t spelling_match(struct str text, struct str s, const char *between, size_t *used)
{
	struct search w; /* not cleared, because the open positions are large */
	struct spelled best = {0, 0};

	w.text = text;
	w.s = s;
	w.between = between;
	w.open[0] = best;
	w.count = 1;
	for (size_t tries = TRIES_EACH * (text.n + 1); w.count && tries && best.text < text.n;
	     tries--) {
		struct spelled p = walk(&w, w.open[--w.count]);

		best = p.text > best.text ? p : best;
		char next = at_of(s, p.s);
		if (p.text < text.n && next && (is_escape(next) || strchr(between, next)))
			branch(&w, p);
	}
	*used = best.s;
	return best.text;
}

/* ---- secrets ---- */

#define PART_MIN 8  /* shortest line of a secret, string in it, or prefix of it that is redacted */
#define CUT_MIN  16 /* a prefix of it that no other text has: redacted wherever it is cut */
#define CODE_MIN 6  /* digits of base64 that are unlikely to match by chance */

static const char line_ends[] = "\r\n", separators[] = "\r\n\t :,-";

static const char *const put = "<redacted>";

struct needle {
	char *text;
	size_t n;
	const char *between; /* see spelling_match */
};

struct secrets {
	struct needle *needles; /* the secrets, and their base64 and hex forms */
	size_t count;
	bool first[256]; /* first bytes of all needles */
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
	for (size_t i = 0; i < s->count; i++)
		free(s->needles[i].text);
	free(s->needles);
	free(s);
}

/* ---- needles ---- */

static void add_pair(struct secrets *s, char first, char second)
{
	s->pairs[(unsigned char)first][(unsigned char)second / 64] |=
		(uint64_t)1 << ((unsigned char)second % 64);
}

/* text has at least two bytes. */
static void add_needle(struct secrets *s, struct str text, const char *between)
{
	for (size_t i = 0; i < s->count; i++)
		if (str_eq((struct str){s->needles[i].text, s->needles[i].n}, text))
			return;
	s->needles = mem_resize(s->needles, s->count + 1, sizeof(*s->needles));
	s->needles[s->count++] = (struct needle){mem_text(text), text.n, between};
	s->first[(unsigned char)text.p[0]] = true;
	for (int c = 0; c < 256; c++) {
		if (is_escape((char)c)) {
			memset(s->pairs[c], 0xff, sizeof(s->pairs[c]));
			add_pair(s, text.p[0], (char)c);
		}
	}
	add_pair(s, text.p[0], text.p[1]);
	add_pair(s, text.p[0], '\n');
	add_pair(s, text.p[0], '\r');
}

/* Adds the digits in both alphabets of RFC 4648. */
static void add_base64_digits(struct secrets *s, struct str digits)
{
	struct buf url = BUF(BUF_MAX_MESSAGE);

	add_needle(s, digits, line_ends);
	buf_str(&url, digits);
	for (size_t i = 0; i < url.n; i++)
		url.p[i] = (char)(url.p[i] == '+' ? '-' : url.p[i] == '/' ? '_' : url.p[i]);
	add_needle(s, buf_view(&url), line_ends);
	buf_release(&url);
}

/* The base64 digits that depend on the value alone, for a value preceded by 0, 1 or 2 bytes within
   a group of three; empty: too few. */
static struct str base64_digits(struct str value, size_t before, struct buf *digits)
{
	struct buf group = BUF(BUF_MAX_MESSAGE);
	size_t foreign = (before * 8 + 5) / 6, whole = (before + value.n) * 8 / 6;

	buf_add(&group, "..", before);
	buf_str(&group, value);
	buf_clear(digits);
	base64_encode(digits, buf_view(&group));
	buf_release(&group);
	return !digits->full && whole >= foreign + CODE_MIN
	               ? (struct str){digits->p + foreign, whole - foreign}
	               : STR("");
}

/* Also the base64 of base64. */
static void add_base64(struct secrets *s, struct str value)
{
	struct buf once = BUF(2 * BUF_MAX_MESSAGE), twice = BUF(4 * BUF_MAX_MESSAGE);

	for (size_t i = 0; i < 3; i++) {
		struct str digits = base64_digits(value, i, &once), again;

		if (digits.n)
			add_base64_digits(s, digits);
		for (size_t k = 0; k < 3 && digits.n; k++) {
			again = base64_digits(digits, k, &twice);
			if (again.n)
				add_needle(s, again, line_ends);
		}
	}
	BUFS_RELEASE(&once, &twice);
}

static void add_hex(struct secrets *s, struct str value, const char *sixteen)
{
	struct buf digits = BUF(BUF_MAX_MESSAGE);

	for (size_t i = 0; i < value.n; i++) {
		buf_char(&digits, sixteen[(unsigned char)value.p[i] >> 4]);
		buf_char(&digits, sixteen[(unsigned char)value.p[i] & 15]);
	}
	if (!digits.full)
		add_needle(s, buf_view(&digits), value.n < PART_MIN ? line_ends : separators);
	buf_release(&digits);
}

static void add_value(struct secrets *s, struct str value)
{
	add_needle(s, value, line_ends);
	add_base64(s, value);
	add_hex(s, value, "0123456789abcdef");
	add_hex(s, value, "0123456789ABCDEF");
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
	struct buf text = BUF(BUF_MAX_MESSAGE);
	struct str string;

	for (size_t cursor = 0; json_next_string(json, &cursor, &string);) {
		buf_clear(&text);
		json_decode(string, &text);
		if (text.n >= PART_MIN)
			add_value(s, buf_view(&text));
	}
	buf_release(&text);
}

bool secrets_add(struct secrets *s, struct str value)
{

	value = text_trim(value);
	if (value.n < SECRET_MIN)
		return false;
	add_value(s, value);
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

		if (s->pairs[a][b / 64] >> (b % 64) & 1 &&
		    (!is_escape((char)a) || spelling_begins(str_skip(text, at), s->first))) {
			return at;
		}
		at++;
	}
	return text.n;
}

/* The end of the longest secret that begins at text[at]; `at` if there is none. `inside`: the
   text may end within a larger one, so that a prefix is redacted anywhere. */
static size_t match_end(const struct secrets *s, struct str text, size_t at, bool inside)
{
	struct str here = str_skip(text, at);
	size_t end = at;

	for (size_t i = 0; i < s->count; i++) {
		struct str needle = {s->needles[i].text, s->needles[i].n};
		size_t used;

		if (needle.p[0] != here.p[0] && !is_escape(here.p[0]))
			continue;
		size_t matched = spelling_match(needle, here, s->needles[i].between, &used);
		if (at + used > end && is_enough(matched, needle, inside || at + used == text.n))
			end = at + used;
	}
	return end;
}

static bool is_in(const struct secrets *s, struct str text, bool inside)
{
	for (size_t at = 0; (at = next_candidate(s, text, at)) < text.n; at++)
		if (match_end(s, text, at, inside) > at)
			return true;
	return false;
}

static const char *found(const void *ctx, struct str text)
{
	return is_in(ctx, text, false) ? put : NULL;
}

/* Overlapping secrets are replaced as one, because the rest of either would reveal part of it. */
static void replace(const void *ctx, struct str text, struct buf *out)
{
	const struct secrets *s = ctx;
	size_t copied = 0, end = 0;

	for (size_t at = 0; (at = next_candidate(s, text, at)) < text.n; at++) {
		size_t now = match_end(s, text, at, false);

		if (now > at && at >= end) {
			buf_add(out, text.p + copied, at - copied);
			buf_text(out, put);
		}
		if (now > at && now > end)
			copied = end = now;
	}
	buf_str(out, str_skip(text, copied));
}

void secrets_redact(const struct secrets *s, struct str text, struct buf *out)
{
	if (s && s->count)
		replace(s, text, out);
	else
		buf_str(out, text);
}

/* ---- lines ---- */

/* Fixed words and numbers that rolldbg generates are kept. */
static void redact_values(const struct secrets *s, const struct line *l, struct buf *store,
                          struct line *out)
{
	struct text_replacer replacer = {
		.found = found, .replace = replace, .ctx = s, .numbers = true};
	struct buf scratch = BUF(BUF_MAX_MESSAGE);
	size_t count;
	const struct line_key *rows = line_rows(l->type, &count);

	*out = *l;
	for (size_t i = 0; i < count; i++) {
		enum key k = rows[i].key;
		size_t from = store->n;

		if (rows[i].words || k == KEY_STATE_HASH ||
		    !(rows[i].types & (T_STRING | T_ARRAY | T_OBJECT)))
			buf_str(store, l->value[k]);
		else
			replace_json(&replacer, l->value[k], &scratch, store);
		out->value[k].n = store->n - from;
	}
	line_point(out, store->p);
	buf_release(&scratch);
}

void secrets_redact_line(const struct secrets *s, const struct line *l, struct buf *out)
{
	size_t from = out->n;

	line_write(l, out);
	struct str text = {out->p + from, out->n - from};
	if (!s || !s->count || out->full || text.n == 0 || !is_in(s, text, true))
		return;
	struct buf store = BUF(out->max);
	struct line redacted;
	(void)!buf_room(&store, text.n); /* allocate once: the result has about this length */
	redact_values(s, l, &store, &redacted);
	out->full = out->full || store.full;
	buf_cut(out, from);
	line_write(&redacted, out);
	buf_release(&store);
}
