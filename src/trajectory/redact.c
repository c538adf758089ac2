/* Secrets and the sinks they must not reach. */
#include "trajectory/redact.h"

#include "base/mem.h"
#include "base/text.h"
#include "json/scan.h"
#include "json/write.h"
#include "trajectory/line.h"
#include "trajectory/needles.h"

#include <stdlib.h>
#include <strings.h>

#define SECRET_MIN 4 /* shorter ones would hide innocent text */
#define COOKIE_MIN 8 /* cookies also carry settings, such as `dark` */

static const char *const put = "<redacted>";

struct secrets {
	struct needles needles;
};

struct secrets *secrets_new(void)
{
	return mem_new(sizeof(struct secrets));
}

void secrets_free(struct secrets *s)
{
	if (!s)
		return;
	needles_release(&s->needles);
	free(s);
}

/* Some encoders escape the slash. */
static void add_slashed(struct secrets *s, struct str quoted)
{
	struct buf slashed = BUF(BUF_MAX_MESSAGE);
	for (size_t i = 0; i < quoted.n; i++) {
		if (quoted.p[i] == '/')
			buf_char(&slashed, '\\');
		buf_char(&slashed, quoted.p[i]);
	}
	needles_add(&s->needles, buf_view(&slashed), put, false);
	buf_release(&slashed);
}

bool secrets_add(struct secrets *s, struct str value)
{
	if (value.n < SECRET_MIN)
		return false;
	needles_add(&s->needles, value, put, false);
	if (text_utf8_valid(value) < value.n)
		return true;
	struct buf quoted = BUF(BUF_MAX_MESSAGE);
	json_quote(&quoted, value);
	needles_add(&s->needles, json_inner(buf_view(&quoted)), put, false);
	add_slashed(s, json_inner(buf_view(&quoted)));
	buf_release(&quoted);
	return true;
}

static bool name_contains(struct str name, const char *word)
{
	size_t n = strlen(word);
	for (size_t at = 0; at + n <= name.n; at++) {
		if (strncasecmp(name.p + at, word, n) == 0)
			return true;
	}
	return false;
}

static bool carries_credentials(struct str name)
{
	static const char *const parts[] = {"authorization", "cookie",   "token",
	                                    "secret",        "password", "api-key",
	                                    "apikey",        "api_key"};
	for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
		if (name_contains(name, parts[i]))
			return true;
	}
	return false;
}

static struct str trim(struct str s)
{
	while (s.n && strchr(" \t\r\n", s.p[0]))
		s = str_skip(s, 1);
	while (s.n && strchr(" \t\r\n", s.p[s.n - 1]))
		s.n--;
	return s;
}

/* The part before the first c; *rest is what stands behind it, absent when there is no c.
 */
static struct str cut_at(struct str s, char c, struct str *rest)
{
	const char *at = s.n ? memchr(s.p, c, s.n) : NULL;
	*rest = at ? str_skip(s, (size_t)(at - s.p) + 1) : (struct str){0};
	return at ? (struct str){s.p, (size_t)(at - s.p)} : s;
}

static void add_cookies(struct secrets *s, struct str pairs)
{
	while (pairs.n) {
		struct str value;
		cut_at(cut_at(pairs, ';', &pairs), '=', &value);
		value = trim(value);
		if (value.n >= COOKIE_MIN)
			secrets_add(s, value);
	}
}

void secrets_add_header(struct secrets *s, struct str header)
{
	struct str value, behind_scheme;
	struct str name = trim(cut_at(header, ':', &value));
	value = trim(value);
	if (!carries_credentials(name))
		return;
	if (name_contains(name, "authorization")) {
		cut_at(value, ' ', &behind_scheme);
		value = behind_scheme.n ? trim(behind_scheme) : value;
	}
	secrets_add(s, value);
	if (name_contains(name, "cookie"))
		add_cookies(s, value);
}

void secrets_redact(const struct secrets *s, struct str text, struct buf *out)
{
	if (s)
		needles_replace(&s->needles, text, out);
	else
		buf_str(out, text);
}

/* What rolldbg says in words of its own, and numbers of its own making. */
static bool is_ours_alone(const struct line_key *row)
{
	return row->words || row->key == KEY_STATE_HASH ||
	       !(row->types & (T_STRING | T_ARRAY | T_OBJECT));
}

static void redact_values(const struct secrets *s, const struct line *l,
                          struct buf *store, struct line *out)
{
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
			needles_replace_json(&s->needles, l->value[k], true, &scratch,
			                     store);
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
	if (!s || out->full || text.n == 0 ||
	    (!needles_found(&s->needles, text) && !memchr(text.p, '\\', text.n)))
		return;
	struct buf store = BUF(out->max);
	struct line redacted;
	(void)!buf_room(&store, text.n); /* in one piece: it will be about as long */
	redact_values(s, l, &store, &redacted);
	out->full = out->full || store.full;
	buf_cut(out, from);
	line_write(&redacted, out);
	buf_release(&store);
}
