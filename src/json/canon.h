/* The canonical form: equal values have equal bytes. Object keys are sorted by their UTF-8
   bytes; no whitespace; strings are escaped as in RFC 8785 section 3.2.2.2; numbers keep their
   spelling (so 1.0 and 1 differ); lone surrogate escapes stay escapes; duplicate keys are kept
   in their order. */
#pragma once

#include "base/buf.h"
#include "base/hash.h"
#include "json/paths.h"

enum json_edit { JSON_EDIT_DROP, JSON_EDIT_MASK }; /* omit the value, or replace it by "<masked>" */

/* Appends the canonical form of a validated value. `paths` (may be NULL) selects the values to
   edit. Dropping an array element shortens the array; dropping the whole value appends null. A
   string that a pattern descends into is parsed, edited and written back as a string; if it is a
   text, a word is replaced by `#` either way. */
void json_canon(struct str value, const struct json_paths *paths, enum json_edit edit,
                struct buf *out);

/* The same for a member of an object that `paths` is about, with that decoded key; masks. A pattern
   that selects the object masks its members, except for null. */
void json_canon_member(struct str value, const struct json_paths *paths, struct str key,
                       struct buf *out);

/* Do two validated values have the same canonical form? An absent value only equals an absent
   one. */
bool json_equal(struct str a, struct str b);

/* Appends the value without line breaks outside strings (spaces are kept), as recorded. */
void json_minify(struct str value, struct buf *out);

/* Computes a state_hash: hash_hex over the canonical form without the ignored pointers.
   `scratch` is overwritten. */
void json_hash(struct str value, const struct json_paths *ignore, struct buf *scratch,
               char out[HASH_HEX + 1]);
