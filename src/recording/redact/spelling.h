/* Matches a text in any spelling that a peer may repeat it in: unchanged, or with the escapes of
   JSON, C, Python, URLs or HTML, also nested (JSON in a string of JSON). */
#ifndef ROLLDBG_RECORDING_REDACT_SPELLING_H
#define ROLLDBG_RECORDING_REDACT_SPELLING_H

#include "base/base.h"

/* Can this byte begin an escape? */
bool spelling_is_escape(char c);

/* Can s, which begins with an escape, spell a text that begins with one of these bytes? */
bool spelling_begins(struct str s, const bool bytes[256]);

/* Returns how many bytes of `text`, from its first, are spelled by the start of s; *used: the
   number of bytes of s that spell them. between: bytes that may separate those of the text, and
   white space may follow them: the line feed of a text that was wrapped, also escaped. */
size_t spelling_match(struct str text, struct str s, const char *between, size_t *used);

#endif
