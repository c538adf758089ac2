/* Recognizes values that change from run to run: see mask_hint.h. */
#include "compare/mask_hint.h"

#include "base/text.h"
#include "evidence/clocks.h"

#include <ctype.h>

/* ---- by value ---- */

static bool are_times(struct str a, struct str b)
{
	return clocks_is_now(a, -1) && clocks_is_now(b, -1);
}

static bool are_uuids(struct str a, struct str b)
{
	return clocks_is_uuid(a) && clocks_is_uuid(b);
}

/* "took 12 ms", "took 9 ms": equal except for numbers and ids. */
static bool are_like_texts(struct str a, struct str b)
{
	struct buf x = BUF(BUF_MAX_MESSAGE), y = BUF(BUF_MAX_MESSAGE);
	bool like = false;

	if (json_type(a) == JSON_STRING && json_type(b) == JSON_STRING) {
		text_mask(&x, json_inner(a));
		text_mask(&y, json_inner(b));
		like = str_eq(buf_view(&x), buf_view(&y));
	}
	buf_release(&x);
	buf_release(&y);
	return like;
}

/* ---- by name ---- */

/* Words in names of volatile members; elapsed_ms, elapsed-ms and elapsedMs are split alike. */
static const char *const run_words[] = {
	"at",        "clock",   "date",  "duration", "elapsed", "hash",  "id",
	"latency",   "ms",      "nonce", "now",      "ns",      "pid",   "port",
	"sec",       "seconds", "since", "time",     "timer",   "times", "token",
	"timestamp", "ts",      "ttl",   "us",       "uptime",  "uuid",  "wall",
};

static bool is_run_word(struct str word)
{
	for (size_t i = 0; i < ARRAY_LEN(run_words); i++) {
		size_t n = strlen(run_words[i]), k = 0;

		while (k < n && k < word.n &&
		       tolower((unsigned char)word.p[k]) == run_words[i][k]) {
			k++;
		}
		if (k == n && n == word.n) {
			return true;
		}
	}
	return false;
}

static bool begins_word(struct str name, size_t i)
{
	return isupper((unsigned char)name.p[i]) && islower((unsigned char)name.p[i - 1]);
}

static bool has_run_word(struct str name)
{
	size_t begin = 0;

	for (size_t i = 1; i <= name.n; i++) {
		bool separator = i < name.n && !isalnum((unsigned char)name.p[i]);

		if (i == name.n || separator || begins_word(name, i)) {
			if (is_run_word((struct str){name.p + begin, i - begin})) {
				return true;
			}
			begin = i + separator;
		}
	}
	return false;
}

static struct str last_token(struct str pointer)
{
	size_t at = pointer.n;

	while (at && pointer.p[at - 1] != '/') {
		at--;
	}
	return str_skip(pointer, at);
}

static bool are_named_numbers(const struct difference *d)
{
	return json_type(d->expected) == JSON_NUMBER && json_type(d->got) == JSON_NUMBER &&
	       has_run_word(last_token(d->pointer));
}

/* ---- the mask ---- */

static bool is_index(struct str token)
{
	size_t i = 0;

	while (i < token.n && isdigit((unsigned char)token.p[i])) {
		i++;
	}
	return i && i == token.n;
}

/* A literal star is written as ~2. */
static void put_token(struct buf *mask, struct str token)
{
	if (is_index(token)) {
		buf_char(mask, '*');
		return;
	}
	for (size_t i = 0; i < token.n; i++) {
		if (token.p[i] == '*') {
			buf_text(mask, "~2");
		} else {
			buf_char(mask, token.p[i]);
		}
	}
}

static void put_mask(struct buf *mask, struct str pointer)
{
	while (pointer.n) {
		size_t n = 1;

		while (n < pointer.n && pointer.p[n] != '/') {
			n++;
		}
		buf_char(mask, '/');
		put_token(mask, (struct str){pointer.p + 1, n - 1});
		pointer = str_skip(pointer, n);
	}
}

bool mask_hint(const struct difference *d, struct buf *mask)
{
	if (d->kind != DIFFERENCE_CHANGED || !d->pointer.n) {
		return false;
	}
	if (!are_times(d->expected, d->got) && !are_uuids(d->expected, d->got) &&
	    !are_like_texts(d->expected, d->got) && !are_named_numbers(d)) {
		return false;
	}
	put_mask(mask, d->pointer);
	return true;
}
