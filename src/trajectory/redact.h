/* Secrets never reach a sink: values of Authorization, cookies, keys and --secret are replaced by
   "<redacted>" wherever they stand in what is about to be written. */
#ifndef ROLLDBG_TRAJECTORY_REDACT_H
#define ROLLDBG_TRAJECTORY_REDACT_H

#include "base/buf.h"

struct secrets;
struct secrets *secrets_new(void);
void secrets_free(struct secrets *s);
/* Copies. Values shorter than 4 bytes are refused (false): they would hide innocent text. */
bool secrets_add(struct secrets *s, struct str value);
/* For a header line "Name: value": adds the value when the name is one that carries credentials
   (authorization, proxy-authorization, cookie, set-cookie, x-api-key, api-key, and names that contain
   token, secret, password or api-key); the scheme word ("Bearer ") stays. */
void secrets_add_header(struct secrets *s, struct str header);
/* Appends text with every secret replaced, also where it stands JSON-escaped. s may be NULL. */
void secrets_redact(const struct secrets *s, struct str text, struct buf *out);
bool secrets_found(const struct secrets *s, struct str text);

#endif
