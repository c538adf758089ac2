/* Replaces secrets in everything written: see redact.h. */
#include "recording/redact/redact.h"

#include "base/base64.h"
#include "base/mem.h"
#include "base/text.h"
#include "json/scan.h"
#include "recording/line.h"
#include "recording/redact/replacer.h"
#include "recording/redact/spelling.h"

#include <stdlib.h>

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
		if (spelling_is_escape((char)c)) {
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
	buf_release(&once);
	buf_release(&twice);
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
		const char *end = memchr(value.p, '\n', value.n);
		size_t n = end ? (size_t)(end - value.p) : value.n;
		struct str line = text_trim((struct str){value.p, n});

		if (line.n >= PART_MIN)
			add_value(s, line);
		value = str_skip(value, n + 1);
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
	struct json_fault fault;

	value = text_trim(value);
	if (value.n < SECRET_MIN)
		return false;
	add_value(s, value);
	if (memchr(value.p, '\n', value.n))
		add_lines(s, value);
	if (json_validate(value, &fault) == 0)
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
		    (!spelling_is_escape((char)a) ||
		     spelling_begins(str_skip(text, at), s->first))) {
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

		if (needle.p[0] != here.p[0] && !spelling_is_escape(here.p[0]))
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

/* Fixed words and numbers generated by rolldbg. */
static bool is_ours_alone(const struct line_key *row)
{
	return row->words || row->key == KEY_STATE_HASH ||
	       !(row->types & (T_STRING | T_ARRAY | T_OBJECT));
}

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

		if (is_ours_alone(&rows[i]))
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
