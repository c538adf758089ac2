/* Replaces secrets by "<redacted>" in everything written, in any form in which a peer may repeat
   them: escaped, in base64 or hex, or truncated. Filled by one thread before the
   others start; reading is allowed in all of them. */
#pragma once

#include "recording/line.h"

#define SECRET_MIN 4 /* shorter ones would match innocent text */

struct secrets;
struct secrets *secrets_new(void);
void secrets_free(struct secrets *s);
/* Adds a copy of the value without surrounding whitespace. Returns false for values shorter than
   SECRET_MIN bytes, which are not added. Each line of a value with several lines, and each
   string in a JSON object or array, is also added, because peers may print them separately. */
bool secrets_add(struct secrets *s, struct str value);
/* Appends text with every secret replaced. s may be NULL. */
void secrets_redact(const struct secrets *s, struct str text, struct buf *out);
/* line_write with every secret replaced, in a line that stays valid: fixed words written by
   rolldbg (type, outcome, status, ...) are kept, and a number that contains a secret becomes a
   string. s may be NULL. */
void secrets_redact_line(const struct secrets *s, const struct line *l, struct buf *out,
                         size_t sizes[KEY_COUNT]);
