/* A text in the spellings that a peer may repeat it in: as it is, with the escapes of JSON, C, Python, URLs or HTML,
   also several times over (JSON in a string of JSON). */
#ifndef ROLLDBG_TRAJECTORY_SPELLING_H
#define ROLLDBG_TRAJECTORY_SPELLING_H

#include "base/base.h"

/* Can this byte be the beginning of an escape? */
bool spelling_is_escape(char c);

/* Can s, which begins with an escape, spell a text that begins with one of these bytes? */
bool spelling_begins(struct str s, const bool bytes[256]);

/* How many bytes of `text`, from its first, s spells at its start; *used: in how many bytes of its own. */
size_t spelling_match(struct str text, struct str s, size_t *used);

#endif
