/* Compares two texts word by word: see word_changes.h. */
#include "facts/word_changes.h"

#include "base/buf.h"
#include "facts/clocks.h"
#include "facts/fresh_ids.h"
#include "json/scan.h"
#include "json/string_words.h"

#define WORD_MAX ((size_t)64) /* bytes */

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Digits, with a minus sign before and a point within; no JSON number has a leading 0. */
static bool is_number(struct str s)
{
	size_t i = s.n > 0 && s.p[0] == '-', from = i, points = 0;

	if (i + 1 < s.n && s.p[i] == '0' && s.p[i + 1] != '.') {
		return false;
	}
	for (; i < s.n && (is_digit(s.p[i]) || s.p[i] == '.'); i++) {
		points += s.p[i] == '.';
	}
	return i == s.n && points <= 1 && from < s.n && is_digit(s.p[from]) &&
	       is_digit(s.p[s.n - 1]);
}

static bool has_digit(struct str s)
{
	for (size_t i = 0; i < s.n; i++) {
		if (is_digit(s.p[i])) {
			return true;
		}
	}
	return false;
}

/* A copy of the word as a JSON string. */
static struct str value_of(char copy[WORD_MAX + 2], struct str word)
{
	memcpy(copy + 1, word.p, word.n);
	copy[0] = copy[word.n + 1] = '"';
	return (struct str){copy, word.n + 2};
}

static bool is_dated(struct str value, int64_t now_ms)
{
	return clocks_is_now(value, now_ms) || clocks_is_uuid(value);
}

static bool add(struct word_changes *w, size_t number, struct str before, struct str after,
                bool prose, int64_t now_ms)
{
	if (w->count == WORD_CHANGES_MAX || before.n > WORD_MAX || after.n > WORD_MAX) {
		return false;
	}
	char *copies = w->values + w->count * 2 * (WORD_MAX + 2);
	struct changed_word *c = &w->words[w->count++];

	c->number = number;
	c->numbers = is_number(before) && is_number(after);
	c->before = value_of(copies, before);
	c->after = value_of(copies + WORD_MAX + 2, after);
	w->dated = w->dated || (is_dated(c->before, now_ms) && is_dated(c->after, now_ms));
	bool generated = (has_digit(before) && has_digit(after)) ||
	                 fresh_ids_differ_only(c->before, c->after);
	w->generated += generated;
	return generated || prose;
}

/* A pointer into such a string is one to a value in that JSON. */
static bool holds_json(struct str string)
{
	struct buf text = BUF(string.n);
	struct json_fault fault;
	struct str inner = json_inner(string);

	if (!memchr("{[ \\", inner.n ? inner.p[0] : 'x', sizeof("{[ \\") - 1)) {
		return false;
	}
	json_decode(string, &text);
	bool holds = json_validate(buf_view(&text), &fault) == 0;
	buf_release(&text);
	return holds;
}

bool word_changes_find(struct word_changes *w, struct str before, struct str after, bool prose,
                       int64_t now_ms)
{
	struct str a, b, was, is;
	size_t i = 0, k = 0, a_end = 0, b_end = 0, n = 0;

	w->count = w->generated = 0;
	w->dated = false;
	if (json_type(before) != JSON_STRING || json_type(after) != JSON_STRING) {
		return false;
	}
	a = json_inner(before);
	b = json_inner(after);
	if (holds_json(before) || holds_json(after)) {
		return false;
	}
	for (;; n++) {
		bool more = json_next_word(a, &i, &was);

		if (json_next_word(b, &k, &is) != more ||
		    !str_eq((struct str){a.p + a_end, i - was.n - a_end},
		            (struct str){b.p + b_end, k - is.n - b_end})) {
			return false;
		}
		if (!more) {
			return w->count > 0 && n > 1; /* one word is a value */
		}
		a_end = i;
		b_end = k;
		if (!str_eq(was, is) && !add(w, n, was, is, prose, now_ms)) {
			return false;
		}
	}
}
