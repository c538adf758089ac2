/* Mending what models write for JSON. */
#ifndef ROLLDBG_POLICY_TOOLFORMATS_MEND_H
#define ROLLDBG_POLICY_TOOLFORMATS_MEND_H

#include "base/buf.h"
#include "policy/toolformats/notes.h"

/* Rewrites what is nearly JSON (Python's literals and quotes, trailing commas, raw line
   feeds, bad escapes, typographic quotes, missing ends) as JSON; false: it is not even
   nearly. Each thing that was mended is named; "missing-end" and
   "missing-quote" are for the caller to judge. *used: bytes taken of the text. */
bool json_mend(struct str text, struct buf *out, size_t *used, struct call_notes *mended);

#endif
