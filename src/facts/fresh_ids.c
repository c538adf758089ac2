/* Compares two texts word by word: see fresh_ids.h. */
#include "facts/fresh_ids.h"

#include "base/buf.h"
#include "facts/clocks.h"
#include "facts/fingerprint.h"
#include "json/scan.h"

#define TEXT_MAX ((size_t)4 << 10)
#define HEX_MIN  8
#define WORD_MIN 12
#define WORD_MAX 512 /* longer words are content, such as a picture */

bool fresh_ids_take(struct fresh_ids *f, struct str before, struct str after)
{
	uint64_t was = fingerprint(before) | 1, is = fingerprint(after) | 1;
	bool known = is == was;

	for (size_t i = 0; i < FRESH_IDS_RECENT; i++) {
		known = known || f->recent[i] == is;
	}
	if (f->next == 0) {
		f->recent[f->next++] = was;
	}
	f->recent[f->next++ % FRESH_IDS_RECENT] = is;
	return !known;
}

/* ---- one word ---- */

enum letter { NO_LETTER, DIGIT, LOWER, UPPER, SIGN };

static enum letter letter_of(char c)
{
	if (c >= '0' && c <= '9') {
		return DIGIT;
	}
	if (c >= 'a' && c <= 'z') {
		return LOWER;
	}
	if (c >= 'A' && c <= 'Z') {
		return UPPER;
	}
	return c == '+' || c == '/' || c == '=' || c == '-' || c == '_' ? SIGN : NO_LETTER;
}

static bool is_hex(struct str s)
{
	for (size_t i = 0; i < s.n; i++) {
		if (!strchr("0123456789abcdefABCDEF", s.p[i])) {
			return false;
		}
	}
	return true;
}

/* Does it look random? Hex digits must include both digits and letters; other words must change
   between digits, lower and upper case at every fourth character on average. */
static bool is_random(struct str s)
{
	bool digit = false, letter = false;
	size_t changes = 0;

	for (size_t i = 0; i < s.n; i++) {
		digit = digit || letter_of(s.p[i]) == DIGIT;
		letter = letter || letter_of(s.p[i]) == LOWER || letter_of(s.p[i]) == UPPER;
		changes += i > 0 && letter_of(s.p[i]) != letter_of(s.p[i - 1]);
	}
	if (is_hex(s)) {
		return s.n >= HEX_MIN && digit && letter;
	}
	return s.n >= WORD_MIN && letter && 4 * changes >= s.n;
}

/* Two different ids have few characters in common; two readings of one value have most. */
static bool are_dissimilar(struct str a, struct str b)
{
	size_t same = 0;

	for (size_t i = 0; i < a.n; i++) {
		same += a.p[i] == b.p[i];
	}
	return 3 * same <= a.n;
}

static struct str word_around(struct str s, size_t at)
{
	size_t from = at, to = at;

	while (from > 0 && letter_of(s.p[from - 1])) {
		from--;
	}
	while (to < s.n && letter_of(s.p[to])) {
		to++;
	}
	return (struct str){s.p + from, to - from};
}

/* Removes a common prefix such as "req-" and a common suffix such as "==". */
static void trim(struct str *a, struct str *b)
{
	size_t from = 0, suffix = 0;

	while (from < a->n && a->p[from] == b->p[from]) {
		from++;
	}
	while (suffix < a->n - from && a->p[a->n - 1 - suffix] == b->p[b->n - 1 - suffix]) {
		suffix++;
	}
	/* stop at a sign, because ids may have equal characters at either end by chance */
	while (from > 0 && letter_of(a->p[from - 1]) != SIGN) {
		from--;
	}
	while (suffix > 0 && letter_of(a->p[a->n - suffix]) != SIGN) {
		suffix--;
	}
	*a = (struct str){a->p + from, a->n - suffix - from};
	*b = (struct str){b->p + from, b->n - suffix - from};
}

static bool are_ids(struct str a, struct str b)
{
	if (a.n != b.n || a.n > WORD_MAX) {
		return false;
	}
	trim(&a, &b);
	return is_random(a) && is_random(b) && are_dissimilar(a, b);
}

/* ---- two texts ---- */

static bool only_ids(struct str a, struct str b)
{
	size_t i = 0;

	if (a.n != b.n) {
		return false;
	}
	while (i < a.n) {
		if (a.p[i] == b.p[i]) {
			i++;
			continue;
		}
		struct str word = word_around(a, i);
		if (!are_ids(word, word_around(b, i))) {
			return false;
		}
		i = (size_t)(word.p - a.p) + word.n;
	}
	return true;
}

bool fresh_ids_differ_only(struct str before, struct str after)
{
	struct buf text = BUF(4 * TEXT_MAX);

	if (json_type(before) != JSON_STRING || json_type(after) != JSON_STRING ||
	    before.n > TEXT_MAX || after.n > TEXT_MAX) {
		return false;
	}
	if (!clocks_may_mask(before) && !clocks_may_mask(after)) {
		return only_ids(before, after);
	}
	clocks_mask(before, &text);
	size_t n = text.n;
	clocks_mask(after, &text);
	struct str all = buf_view(&text);
	bool only = only_ids((struct str){all.p, n}, str_skip(all, n));
	buf_release(&text);
	return only;
}

bool fresh_ids_is_id(struct str word)
{
	return clocks_is_id(word) || is_random(word);
}
