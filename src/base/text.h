/* Small text tools that several layers share: nearest names, units, safe output, masked
 * text. */
#ifndef ROLLDBG_BASE_TEXT_H
#define ROLLDBG_BASE_TEXT_H

#include "base/buf.h"
#include "base/error.h"

/* The candidate nearest to what was typed (optimal string alignment distance, at most a
   third of its length plus one), else the only one that begins with it (two letters at
   least), or NULL when none is near. names[i] may be NULL: skipped. */
const char *text_nearest(struct str typed, const char *const *names, size_t count);
/* Ends a message about an unknown name: "; did you mean 'X'?", or, when none is near, the
   names there are: " (A, B, C)". */
void text_suggest(struct buf *out, struct str typed, const char *const *names,
                  size_t count);

/* A whole non-negative decimal number that fits; no sign, blank or suffix. */
bool text_u64(struct str s, uint64_t *out);
bool text_i64(struct str s, int64_t *out);

/* The double nearest to a decimal number as JSON spells it; infinite when there is none.
 */
double text_double(const char *number);

/* "500ms", "3s", "2m", "1h" (a unit is required, except for 0); false when malformed or
 * too large. */
bool text_duration_ms(struct str s, uint64_t *out);
/* "64MiB", "512KiB", "10MB", "100B". */
bool text_size(struct str s, uint64_t *out);

/* Appends s for a terminal: control bytes, DEL, C1 controls, bidirectional overrides and
   invalid UTF-8 are shown as \n, \t, \x1b, \u{202e}; nothing a peer wrote can move the
   cursor. */
void text_escape(struct buf *out, struct str s);
/* The same, cut to at most `columns` characters with an ellipsis. */
void text_escape_cut(struct buf *out, struct str s, size_t columns);

/* The same for JSON, which stays the same JSON: what it need not escape is escaped as
 * \u009b. */
void text_escape_json(struct buf *out, struct str json);

/* Appends words, broken between them so that no line that has a second word is longer
   than `columns`. The first line goes on where `out` stands, `indent` characters into its
   line; the others begin with as many blanks. Line feeds in `s` stay. Ends with a line
   feed. */
void text_wrap(struct buf *out, struct str s, size_t indent, size_t columns);

/* Masked text (for comparing error messages): UUIDs, then runs of 8 or more hex digits,
   then runs of digits become '#'. */
void text_mask(struct buf *out, struct str s);

/* Does the pattern match all of s? '*' stands for any bytes, none included. */
bool text_glob(struct str pattern, struct str s);
/* Does one of the comma-separated patterns? NULL: none. */
bool text_globs(const char *patterns, struct str s);

/* Length of the first invalid-free part of s under RFC 3629; s.n when all of it is valid
 * UTF-8. */
size_t text_utf8_valid(struct str s);

/* RFC 4648 section 4, with padding. */
void text_base64(struct buf *out, struct str s);

#endif
