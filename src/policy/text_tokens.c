/* Tokens of prose: see text_tokens.h. */
#include "policy/text_tokens.h"

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

static bool is_quote(char c)
{
	return c == '\'' || c == '"' || c == '`';
}

/* U+2000 to U+2FFF: dashes, ellipsis, bullets, signs such as U+2264. */
static bool is_wide_mark(struct str s)
{
	return s.n >= 3 && (unsigned char)s.p[0] == 0xe2;
}

static bool is_letter(struct str s)
{
	return s.n && ((s.p[0] >= 'a' && s.p[0] <= 'z') || (s.p[0] >= 'A' && s.p[0] <= 'Z') ||
	               s.p[0] == '_' || ((unsigned char)s.p[0] >= 0x80 && !is_wide_mark(s)));
}

static bool is_inside(struct str s)
{
	return is_letter(s) || (s.n && is_digit(s.p[0]));
}

/* The length of the word at the start of s; 0: there is none. */
static size_t word_length(struct str s)
{
	size_t n = 0;

	while (is_inside(str_skip(s, n)) || (n && n + 1 < s.n && (s.p[n] == '-' || s.p[n] == '.') &&
	                                     is_inside(str_skip(s, n + 1)))) {
		n++;
	}
	return n;
}

static size_t digits(struct str s, size_t from)
{
	size_t n = from;

	while (n < s.n && is_digit(s.p[n])) {
		n++;
	}
	return n - from;
}

/* The length of the number at the start of s; 0: there is none, or it is part of a word. A '-'
   is a sign unless it follows a word or number without a space. */
static size_t number_length(struct str s, bool sign)
{
	size_t n = sign && s.n && s.p[0] == '-', whole = digits(s, n);

	if (!whole || (whole > 1 && s.p[n] == '0')) {
		return 0;
	}
	n += whole;
	if (n < s.n && s.p[n] == '.' && digits(s, n + 1)) {
		n += 1 + digits(s, n + 1);
		if (n + 1 < s.n && s.p[n] == '.' && is_digit(s.p[n + 1])) {
			return 0; /* 1.2.3 */
		}
	}
	bool glued = is_letter(str_skip(s, n)) ||
	             (n + 1 < s.n && s.p[n] == '-' && is_letter(str_skip(s, n + 1)));
	return glued ? 0 : n;
}

/* The text between the quotes at the start of s, and *used bytes of it with them; absent if
   these are not quotes around one word or phrase. */
static struct str quoted(struct str s, size_t *used)
{
	size_t escape = s.n > 1 && s.p[0] == '\\', start = escape + 1, n = start;

	if (s.n <= start || !is_quote(s.p[escape])) {
		return STR_NONE;
	}
	while (n < s.n && n < start + TOKENS_QUOTED_MAX && s.p[n] != '\n' && s.p[n] != '\\' &&
	       s.p[n] != s.p[escape]) {
		n++;
	}
	size_t close = n + escape;
	if (n == start || close >= s.n || s.p[close] != s.p[escape] || (escape && s.p[n] != '\\') ||
	    is_inside(str_skip(s, close + 1))) {
		return STR_NONE;
	}
	*used = close + 1;
	return (struct str){s.p + start, n - start};
}

static size_t mark_length(struct str s)
{
	if (is_wide_mark(s)) {
		return 3;
	}
	if (str_starts(s, STR("..."))) {
		return 3;
	}
	return str_starts(s, STR("..")) || str_starts(s, STR("<=")) ? 2 : 1;
}

/* Whitespace at the start of s; "\n" in an escaped text is a line end, too. */
static size_t skip_blanks(struct str s, bool *line)
{
	size_t n = 0;

	while (n < s.n) {
		bool escaped = s.p[n] == '\\' && n + 1 < s.n && s.p[n + 1] == 'n';

		if (!escaped && !is_blank(s.p[n]) && s.p[n] != '\n') {
			break;
		}
		*line |= escaped || s.p[n] == '\n';
		n += escaped ? 2 : 1;
	}
	return n;
}

static void add(struct tokens *t, struct arena *arena, struct prose_token token)
{
	t->item = arena_grow(arena, t->item, t->count, sizeof(*t->item));
	t->item[t->count++] = token;
}

/* Reads the token at the start of s; returns its length. */
static size_t read_token(struct str s, bool glued, struct prose_token *out)
{
	size_t n = 0;

	out->text = glued ? STR_NONE : quoted(s, &n);
	if (out->text.p) {
		out->kind = TOKEN_QUOTED;
		return n;
	}
	n = number_length(s, !glued);
	out->kind = TOKEN_NUMBER;
	if (!n) {
		n = word_length(s);
		out->kind = TOKEN_WORD;
	}
	if (!n) {
		n = mark_length(s);
		out->kind = TOKEN_MARK;
	}
	out->text = (struct str){s.p, n};
	return n;
}

void tokens_read(struct tokens *t, struct arena *arena, struct str text)
{
	size_t at = 0;
	bool glued = false;

	text.n = text.n < TOKENS_TEXT_MAX ? text.n : TOKENS_TEXT_MAX;
	*t = (struct tokens){.item = NULL};
	while (at < text.n) {
		struct str rest = str_skip(text, at);
		struct prose_token token = {.kind = TOKEN_LINE};
		bool line = false;
		size_t blanks = skip_blanks(rest, &line);

		if (line) {
			token.text = (struct str){rest.p, blanks};
			add(t, arena, token);
		}
		at += blanks;
		if (at == text.n) {
			break;
		}
		token.spaced = blanks || !at;
		at += read_token(str_skip(text, at), glued && !blanks, &token);
		add(t, arena, token);
		glued = token.kind == TOKEN_WORD || token.kind == TOKEN_NUMBER;
	}
}

bool tokens_is(const struct tokens *t, size_t i, enum token_kind kind)
{
	return i < t->count && t->item[i].kind == kind;
}

bool tokens_mark(const struct tokens *t, size_t i, const char *mark)
{
	return tokens_is(t, i, TOKEN_MARK) && str_is(t->item[i].text, mark);
}

bool tokens_word(const struct tokens *t, size_t i, const char *word)
{
	size_t n = strlen(word);

	if (!tokens_is(t, i, TOKEN_WORD) || t->item[i].text.n != n) {
		return false;
	}
	for (size_t k = 0; k < n; k++) {
		char c = t->item[i].text.p[k];

		if ((c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c) != word[k]) {
			return false;
		}
	}
	return true;
}
