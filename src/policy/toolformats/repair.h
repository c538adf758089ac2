/* Repairs JSON written by models. */
#ifndef ROLLDBG_POLICY_TOOLFORMATS_REPAIR_H
#define ROLLDBG_POLICY_TOOLFORMATS_REPAIR_H

#include "base/buf.h"
#include "policy/toolformats/notes.h"

#define REPAIR_DEPTH_MAX 64 /* nested containers; deeper text cannot be repaired */

/* Rewrites text that is almost JSON (Python literals and quotes, trailing commas, raw line
   feeds, invalid escapes, typographic quotes, missing ends) as JSON. Each repair is recorded;
   the caller decides about "missing-end" and "missing-quote". *used: bytes read. False: cannot
   be repaired. */
bool json_repair(struct str text, struct buf *out, size_t *used, struct call_notes *repaired);

#endif
