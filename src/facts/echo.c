/* Compares texts without the arguments that they contain: see echo.h. */
#include "facts/echo.h"

#include "json/scan.h"

#include <strings.h>

#define WORDS_MAX 8
#define WORD_MIN  2
#define WORD_MAX  64 /* bytes; a longer argument is text of its own */
#define REST_MIN  8  /* characters besides the words */

/* The same argument of two calls. */
struct word {
	struct str before, after;
};

static struct str word_of(struct str value)
{
	struct str text = json_type(value) == JSON_STRING ? json_inner(value) : STR_NONE;

	return text.n >= WORD_MIN && text.n <= WORD_MAX ? text : STR_NONE;
}

static size_t words_of(struct str before, struct str after, struct word words[WORDS_MAX])
{
	struct json_member m;
	size_t cursor = 0, n = 0;

	while (n < WORDS_MAX && json_next_member(after, &cursor, &m)) {
		struct word w = {word_of(json_get(before, m.key)), word_of(m.value)};
		if (w.before.n && w.after.n) {
			words[n++] = w;
		}
	}
	return n;
}

static bool begins(struct str text, struct str word)
{
	return text.n >= word.n && strncasecmp(text.p, word.p, word.n) == 0;
}

/* The word that both texts begin with; NULL if there is none. */
static const struct word *word_at(const struct word *words, size_t n, struct str a, struct str b)
{
	for (size_t i = 0; i < n; i++) {
		if (begins(a, words[i].before) && begins(b, words[i].after)) {
			return &words[i];
		}
	}
	return NULL;
}

bool echo_differs_only(const struct echo *before, const struct echo *after)
{
	struct word words[WORDS_MAX];
	size_t n = words_of(before->arguments, after->arguments, words), rest = 0;
	struct str a = before->value, b = after->value;

	if (n == 0 || json_type(a) != JSON_STRING || json_type(b) != JSON_STRING) {
		return false;
	}
	while (a.n && b.n) {
		const struct word *w = word_at(words, n, a, b);
		if (!w && *a.p != *b.p) {
			return false;
		}
		rest += !w;
		a = str_skip(a, w ? w->before.n : 1);
		b = str_skip(b, w ? w->after.n : 1);
	}
	return !a.n && !b.n && rest >= REST_MIN;
}
