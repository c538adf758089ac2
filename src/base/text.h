/* Text helpers shared by several layers: nearest names, units, escaping, masking. */
#pragma once

#include "base/base.h"
#include "base/buf.h"
#include "base/error.h"

/* The candidate nearest to the typed text, by optimal string alignment distance: at most a third
   of the typed length (1 for two letters, 0 for one), or one more if four letters or more were
   typed and the first is right: tyni is near tiny, JUMP is not near UP. Else the only one that
   begins with the typed text (at least two letters), else NULL.
   names[i] may be NULL and is then skipped. */
const char *text_nearest(struct str typed, const char *const *names, size_t count);

/* Parses a non-negative decimal number without sign, whitespace or suffix; false if it does not
   fit. */
bool text_u64(struct str s, uint64_t *out);
/* The same; a leading minus is allowed. */
bool text_i64(struct str s, int64_t *out);

/* The double nearest to a JSON number; infinite on overflow. */
double text_double(const char *number);

/* Parses "500ms", "3s", "2m", "1h" (the unit is required, except for 0); false if malformed or
   longer than 1000h. */
bool text_duration_ms(struct str s, uint64_t *out);
/* Appends "500ms" or "3s". */
void text_put_duration(struct buf *out, uint64_t ms);
/* Parses "64MiB", "512KiB", "10MB", "100B". */
bool text_size(struct str s, uint64_t *out);

/* Appends s, safe for a terminal: control bytes, DEL, C1 controls, bidirectional overrides,
   invisible characters and invalid UTF-8 are escaped (\n, \t, \x1b, \u{202e}), so that a peer's
   text cannot move the cursor. So are beginnings of commands that CI runners read from logs:
   \x3a:error::, \x23#[error]. */
void text_escape(struct buf *out, struct str s);
void text_escape_line(struct buf *out, struct str s); /* and a line feed */
/* Like text_escape, cut with an ellipsis to at most `columns` terminal cells; East Asian characters and
   emoji take two. Returns the cells used. */
size_t text_escape_cut(struct buf *out, struct str s, size_t columns);
/* Appends "WHAT: PATH" and a line feed; the path is escaped. */
void text_put_path(struct buf *out, const char *what, const char *path);
/* Appends s as a part of a URI: what is not unreserved (RFC 3986), nor in `plain`, is percent-encoded. */
void text_put_uri(struct buf *out, struct str s, const char *plain);
/* Does text_escape leave s as it is? */
bool text_is_safe(struct str s);
/* The number of cells that text_escape's result takes. */
size_t text_cells(struct str s);

/* Like text_escape, for JSON, which keeps its value: characters that JSON need not escape are written as
   \u009b. */
void text_escape_json(struct buf *out, struct str json);

/* Appends s, wrapped between words at `columns` cells; a longer word gets a line of its own. The
   first line continues at the end of `out`, `indent` cells into its line; the others are
   indented by as many spaces. Line feeds in s are kept. Ends with a line feed. */
void text_wrap(struct buf *out, struct str s, size_t indent, size_t columns);

/* Appends s with UUIDs, then runs of 8 or more hex digits, then runs of digits replaced by '#',
   to compare error messages. */
void text_mask(struct buf *out, struct str s);

/* Does the pattern match all of s? '*' matches any bytes, or none. */
bool text_glob(struct str pattern, struct str s);
/* Does one of the comma-separated patterns match? NULL matches nothing. */
bool text_globs(const char *patterns, struct str s);

/* s without surrounding spaces, tabs, carriage returns and line feeds. */
struct str text_trim(struct str s);

/* Decodes the code point at the start of s, which must not be empty. Returns its length in
   bytes; 0 if it is not valid UTF-8. */
size_t utf8_decode(struct str s, uint32_t *code);
/* Writes a code point, at most 4 bytes; returns their number. */
size_t utf8_encode(uint32_t code, char *out);
/* Length of the longest valid UTF-8 (RFC 3629) prefix of s; s.n if all of s is valid. */
size_t text_utf8_valid(struct str s);
/* At most the first max bytes of s, without a partial character at the end. */
struct str text_utf8_cut(struct str s, size_t max);
/* The same, copied to an array of `size` bytes and terminated. */
void text_copy(char *out, size_t size, struct str s);

/* Does the part (not empty) occur in the text? Time is linear in the text for any input. */
bool find_in(struct str text, struct str part);
/* The offset of its first occurrence; text.n if there is none. */
size_t find_at(struct str text, struct str part);

/* Is there an ASCII digit? */
bool text_has_digit(struct str s);
