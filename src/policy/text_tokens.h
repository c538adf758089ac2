/* Splits a server's prose into words, numbers, quoted words and punctuation. */
#ifndef ROLLDBG_POLICY_TEXT_TOKENS_H
#define ROLLDBG_POLICY_TEXT_TOKENS_H

#include "base/mem.h"

#define TOKENS_TEXT_MAX   ((size_t)16 << 10) /* the rest of a longer text is not read */
#define TOKENS_QUOTED_MAX 64                 /* bytes between quotes */

enum token_kind {
	TOKEN_WORD,   /* letters, digits, and '-' or '.' between them: up-left, 3x3, e2 */
	TOKEN_NUMBER, /* a JSON number without exponent */
	TOKEN_QUOTED, /* text without its quotes, which may be escaped: \"a\" */
	TOKEN_MARK,   /* one character of punctuation, or "..", "...", "<=" */
	TOKEN_LINE,   /* line ends */
};

struct prose_token {
	enum token_kind kind;
	struct str text; /* in the text that was read */
	bool spaced;     /* preceded by whitespace */
};

struct tokens {
	struct prose_token *item; /* in the arena given */
	size_t count;
};

void tokens_read(struct tokens *t, struct arena *arena, struct str text);

/* Is token i that punctuation? False beyond the end. */
bool tokens_mark(const struct tokens *t, size_t i, const char *mark);
/* Is token i that word, in any case? `word` is in lower case. */
bool tokens_word(const struct tokens *t, size_t i, const char *word);
bool tokens_is(const struct tokens *t, size_t i, enum token_kind kind);

#endif
