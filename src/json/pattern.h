/* JSON Pointers as text: writing them, and one pattern against one pointer. For many patterns over
   a whole value see paths.h, which has the same syntax. */
#ifndef ROLLDBG_JSON_PATTERN_H
#define ROLLDBG_JSON_PATTERN_H

#include "base/buf.h"

/* Appends a slash and the token, with `~` and `/` in it escaped. */
void json_pointer_add(struct buf *pointer, struct str token);
/* The same for the key of a member, which has no quotes and is still escaped. */
void json_pointer_add_key(struct buf *pointer, struct str key);

/* Does the pattern select what the pointer (RFC 6901) names? `*` is any one token, `**` any
   depth, also none, `~2` a literal star. */
bool json_pattern_fits(struct str pattern, struct str pointer);

#endif
