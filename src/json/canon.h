/* The canonical form and what is made of it: equal facts, equal bytes. Object keys sorted
   by their UTF-8 bytes, no blanks, strings escaped as RFC 8785 section 3.2.2.2 does,
   number tokens as spelled (so 1.0 and 1 differ); lone surrogate escapes stay escapes;
   duplicate keys stay, in their order. */
#ifndef ROLLDBG_JSON_CANON_H
#define ROLLDBG_JSON_CANON_H

#include "base/buf.h"
#include "base/error.h"
#include "base/hash.h"

/* A set of patterns over JSON Pointers (RFC 6901). With `wild`, `*` is any one token,
   `**` any depth (none included), `~2` a literal star; without, tokens are literal. A
   token applied to a string reads the string as JSON. */
struct json_paths;
struct json_paths *json_paths_new(bool wild);
MUST_USE int json_paths_add(struct json_paths *p, struct str pointer,
                            struct error *err); /* FAIL_INPUT */
void json_paths_free(struct json_paths *p);     /* NULL is fine */

enum json_edit {
	JSON_EDIT_DROP,
	JSON_EDIT_MASK
}; /* leave it out, or put "<masked>" in its place */

/* Appends the canonical form of a validated value. `paths` may be NULL. An array element
   that is dropped leaves the array shorter. The whole value dropped: appends null. A
   string that a pattern reaches into is parsed, edited and written back as a string. */
void json_canon(struct str value, const struct json_paths *paths, enum json_edit edit,
                struct buf *out);

/* The value without line breaks outside strings (blanks kept): how peers' bytes are
 * spliced. */
void json_minify(struct str value, struct buf *out);

/* state_hash: hash_hex over the canonical form without the ignored pointers. `scratch` is
   cleared and used. */
void json_hash(struct hasher *h, struct str value, const struct json_paths *ignore,
               struct buf *scratch, char out[HASH_HEX + 1]);

#endif
