/* Secrets never reach a sink: values of Authorization, cookies, keys and --secret are
   replaced by "<redacted>" wherever they stand in what is about to be written. Filled by
   one thread before the others start; what only reads may run in all of them. */
#ifndef ROLLDBG_TRAJECTORY_REDACT_H
#define ROLLDBG_TRAJECTORY_REDACT_H

#include "base/buf.h"

struct line;
struct secrets;
struct secrets *secrets_new(void);
void secrets_free(struct secrets *s);
/* Copies. Values shorter than 4 bytes are refused (false): they would hide innocent text.
 */
bool secrets_add(struct secrets *s, struct str value);
/* For a header line "Name: value": adds the value when the name is one that carries
   credentials (authorization, proxy-authorization, cookie, set-cookie, x-api-key,
   api-key, and names that contain token, secret, password, api-key or apikey); the scheme
   word ("Bearer ") stays. Of cookies the values count alone, too. */
void secrets_add_header(struct secrets *s, struct str header);
/* Appends text with every secret replaced, also where it stands JSON-escaped. s may be
 * NULL. */
void secrets_redact(const struct secrets *s, struct str text, struct buf *out);
/* line_write with every secret replaced and the line still a valid one: what rolldbg
   itself says in fixed words (type, outcome, status, ...) stays, a number that holds a
   secret becomes a string. s may be NULL. */
void secrets_redact_line(const struct secrets *s, const struct line *l, struct buf *out);

#endif
