/* Follows the words of texts by their places: see recurring_words.h. */
#include "facts/recurring_words.h"

#include "facts/fingerprint.h"
#include "json/scan.h"

#define TEXT_MAX     ((size_t)16 << 10)
#define RECURRED_MIN 2

/* Values are raw JSON: a backslash begins an escape sequence. */
static bool ends_word(char c)
{
	return c == ' ' || (c && strchr("\\,;=<>()[]{}/\"", c));
}

/* Hashes of the first words, 0 after the last; returns their number. */
static size_t split(struct str text, uint32_t words[RECURRING_WORDS])
{
	size_t count = 0, i = 0;

	memset(words, 0, RECURRING_WORDS * sizeof(*words));
	while (i < text.n && count < RECURRING_WORDS) {
		size_t from = i;

		while (i < text.n && !ends_word(text.p[i])) {
			i++;
		}
		if (i > from) {
			struct str word = {text.p + from, i - from};
			words[count++] = (uint32_t)fingerprint(word) | 1;
		}
		i++;
	}
	return count;
}

static struct recurring_text *find_or_add(struct recurring_words *r, struct arena *a,
                                          struct str pointer)
{
	for (size_t i = 0; i < r->count; i++) {
		if (str_eq(r->texts[i].pointer, pointer)) {
			return &r->texts[i];
		}
	}
	if (r->count == RECURRING_TEXTS) {
		return NULL;
	}
	r->texts = arena_grow(a, r->texts, r->count, sizeof(*r->texts));
	r->texts[r->count] = (struct recurring_text){.pointer = arena_str(a, pointer)};
	return &r->texts[r->count++];
}

/* Did the word have this value before the newest reading? */
static bool was_before(const struct recurring_text *t, size_t place, uint32_t word)
{
	for (size_t i = 0; i + 1 < t->readings; i++) {
		if (t->words[i][place] == word) {
			return true;
		}
	}
	return false;
}

static void add(struct recurring_text *t, const uint32_t words[RECURRING_WORDS])
{
	bool recurred = false;

	for (size_t i = 0; t->readings > 1 && i < RECURRING_WORDS && words[i]; i++) {
		bool changed = t->words[t->readings - 1][i] != words[i];
		recurred = recurred || (changed && was_before(t, i, words[i]));
	}
	t->recurred += recurred;
	if (t->readings == RECURRING_READINGS) {
		memmove(t->words[0], t->words[1], (RECURRING_READINGS - 1) * sizeof(t->words[0]));
		t->readings--;
	}
	memcpy(t->words[t->readings++], words, sizeof(t->words[0]));
}

void recurring_words_take(struct recurring_words *r, struct arena *a, struct str pointer,
                          const struct echo *before, const struct echo *after)
{
	uint32_t first[RECURRING_WORDS], second[RECURRING_WORDS];
	struct str was = before->value, is = after->value;

	if (json_type(was) != JSON_STRING || json_type(is) != JSON_STRING || was.n > TEXT_MAX ||
	    is.n > TEXT_MAX || echo_differs_only(before, after) ||
	    split(json_inner(was), first) < 2 || split(json_inner(is), second) < 2) {
		return;
	}
	struct recurring_text *t = find_or_add(r, a, pointer);
	if (t && t->readings == 0) {
		add(t, first);
	}
	if (t) {
		add(t, second);
	}
}

bool recurring_words_found(const struct recurring_words *r)
{
	for (size_t i = 0; i < r->count; i++) {
		if (r->texts[i].recurred >= RECURRED_MIN) {
			return true;
		}
	}
	return false;
}
