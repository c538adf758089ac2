/* The canonical form where nothing is masked. Private to src/json/. */
#ifndef ROLLDBG_JSON_CANON_PLAIN_H
#define ROLLDBG_JSON_CANON_PLAIN_H

#include "base/buf.h"

/* Appends it. False, with nothing appended, for what this does not do: deep nesting, objects of
   very many members, keys with escapes; and where the value is longer than out may be. */
bool canon_plain(struct str value, struct buf *out);

#endif
