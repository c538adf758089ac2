/* JSON Pointers as text: writes them, and matches one pattern against one pointer. For many
   patterns over a whole value see paths.h, which has the same syntax. */
#ifndef ROLLDBG_JSON_PATTERN_H
#define ROLLDBG_JSON_PATTERN_H

#include "base/buf.h"

/* Appends a slash and the token, with `~` and `/` escaped. */
void json_pointer_add(struct buf *pointer, struct str token);
/* The same for a member's key as spelled, without its quotes. */
void json_pointer_add_key(struct buf *pointer, struct str key);

/* Does the pattern match the pointer (RFC 6901)? `*` matches any one token, `**` any number of
   tokens, including zero, `~2` a literal star. */
bool json_pattern_fits(struct str pattern, struct str pointer);

#endif
