/* The words that differ between two texts with the same number of words, which some texts have that
   contain a clock: "12:03:44 floor 3". */
#ifndef ROLLDBG_FACTS_WORD_CHANGES_H
#define ROLLDBG_FACTS_WORD_CHANGES_H

#include "base/base.h"

#define WORD_CHANGES_MAX 8 /* with more words that differ, texts are compared as a whole */

struct changed_word {
	size_t number;            /* of the word, from 0 */
	struct str before, after; /* JSON strings; views of `values` */
	bool numbers;             /* without the quotes, both are JSON numbers */
};

struct word_changes {
	struct changed_word words[WORD_CHANGES_MAX];
	size_t count;
	/* words whose values both times contain a digit or look random; the others are prose */
	size_t generated;
	/* a word is a point in time close to now_ms, or a UUID, both times */
	bool dated;
	char values[WORD_CHANGES_MAX * 2 * 66];
};

/* Compares two JSON values. False if they are not texts whose words can be compared: other
   values, JSON within a string, a single word, long words, different separators; without `prose`
   also if a word of prose differs. */
bool word_changes_find(struct word_changes *w, struct str before, struct str after, bool prose,
                       int64_t now_ms);

#endif
