/* The words of a string that is a text: the longest runs of characters other than control
   characters, blanks and one of " , ; = < > ( ) [ ] { } / \ | after decoding. */
#ifndef ROLLDBG_JSON_STRING_WORDS_H
#define ROLLDBG_JSON_STRING_WORDS_H

#include "base/base.h"

/* The next word of a string, given without its quotes, as spelled. Start with *at = 0; false at the
   end. */
bool json_next_word(struct str inner, size_t *at, struct str *word);

#endif
