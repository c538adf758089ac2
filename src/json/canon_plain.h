/* The canonical form without masking. Private to src/json/. */
#ifndef ROLLDBG_JSON_CANON_PLAIN_H
#define ROLLDBG_JSON_CANON_PLAIN_H

#include "base/buf.h"

/* Appends the canonical form of a validated value. Returns false, with nothing appended, for
   unsupported values (deep nesting, objects with very many members, keys with escapes) and values
   longer than `out` allows. */
bool canon_plain(struct str value, struct buf *out);

#endif
