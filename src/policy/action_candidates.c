/* Extracts possible actions from a server's texts: see action_candidates.h. */
#include "policy/action_candidates.h"

#define WORD_BYTES 32

static bool is_capital(char c)
{
	return c >= 'A' && c <= 'Z';
}

static bool is_inside(char c)
{
	return is_capital(c) || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' ||
	       c == '-';
}

static bool is_quote(char c)
{
	return c == '\'' || c == '"' || c == '`';
}

void action_candidates_add_word(struct action_candidates *w, struct str word)
{
	if (w->count == ACTION_CANDIDATES_MAX || word.n > WORD_BYTES) {
		return;
	}
	for (size_t i = 0; i < w->count; i++) {
		if (str_eq(w->item[i], word)) {
			return;
		}
	}
	w->item[w->count++] = arena_str(&w->arena, word);
}

static bool is_in_capitals(struct str word)
{
	size_t capitals = 0;

	for (size_t i = 0; i < word.n; i++) {
		capitals += is_capital(word.p[i]);
		if (word.p[i] >= 'a' && word.p[i] <= 'z') {
			return false;
		}
	}
	return capitals > 1;
}

void action_candidates_add(struct action_candidates *w, struct str text)
{
	size_t i = 0;

	while (i < text.n) {
		size_t start = i;

		while (i < text.n && is_inside(text.p[i])) {
			i++;
		}
		struct str word = {text.p + start, i - start};
		bool quoted = word.n && start && i < text.n && is_quote(text.p[i]) &&
		              text.p[start - 1] == text.p[i];
		if (quoted || is_in_capitals(word)) {
			action_candidates_add_word(w, word);
		}
		i += word.n ? 0 : 1;
	}
}

void action_candidates_release(struct action_candidates *w)
{
	arena_release(&w->arena);
	*w = (struct action_candidates){.count = 0};
}
