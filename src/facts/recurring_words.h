/* Words of a text that changes without a call and is ignored as a whole, such as a log line with its
   time. Times and ids never return to an earlier value; a word that does, such as a position, was
   probably changed by calls. */
#ifndef ROLLDBG_FACTS_RECURRING_WORDS_H
#define ROLLDBG_FACTS_RECURRING_WORDS_H

#include "base/mem.h"
#include "facts/echo.h"

#define RECURRING_TEXTS    4  /* members followed */
#define RECURRING_WORDS    32 /* words followed in each */
#define RECURRING_READINGS 8

struct recurring_text {
	struct str pointer;
	uint32_t words[RECURRING_READINGS][RECURRING_WORDS]; /* hashes; 0: no such word */
	size_t readings;
	int64_t recurred; /* words that changed back to an earlier value */
};

/* Ready for use if zeroed. */
struct recurring_words {
	struct recurring_text *texts; /* in the arena */
	size_t count;
};

/* Adds a change of the member over a call. Texts that differ in nothing but the arguments of their
   calls, and values that are no texts of at least two words, are left out. */
void recurring_words_take(struct recurring_words *r, struct arena *a, struct str pointer,
                          const struct echo *before, const struct echo *after);

/* Did words of one text change back at least twice? */
bool recurring_words_found(const struct recurring_words *r);

#endif
