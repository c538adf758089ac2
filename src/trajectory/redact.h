/* Secrets never reach a sink: they are replaced by "<redacted>" in everything written, in whatever spelling a peer
   repeats them: escaped (spelling.h), in base64 or hex, or cut short. Filled by one thread before the others start;
   reading is allowed in all of them. */
#ifndef ROLLDBG_TRAJECTORY_REDACT_H
#define ROLLDBG_TRAJECTORY_REDACT_H

#include "base/buf.h"

#define SECRET_MIN 4 /* shorter ones would hide innocent text */

struct line;
struct secrets;
struct secrets *secrets_new(void);
void secrets_free(struct secrets *s);
/* Copies, without the blanks around it. Values shorter than SECRET_MIN bytes are refused (false). Of one with several
   lines each line is a secret too, of a JSON object or array each string in it: peers print them one by one. */
bool secrets_add(struct secrets *s, struct str value);
/* Appends text with every secret replaced. s may be NULL. */
void secrets_redact(const struct secrets *s, struct str text, struct buf *out);
/* line_write with every secret replaced and the line still a valid one: what rolldbg
   itself says in fixed words (type, outcome, status, ...) stays, a number that holds a
   secret becomes a string. s may be NULL. */
void secrets_redact_line(const struct secrets *s, const struct line *l, struct buf *out);

#endif
