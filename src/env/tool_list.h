/* What lists of tools say, as environments advertise them: raw JSON arrays. */
#ifndef ROLLDBG_ENV_TOOL_LIST_H
#define ROLLDBG_ENV_TOOL_LIST_H

#include "base/buf.h"
#include "base/hash.h"

/* Does the tool say that it changes nothing (annotations.readOnlyHint)? */
bool tool_reads_only(struct str tools, struct str name);

/* Do two lists advertise different tools? Then detail is {"added","removed","changed"}, each an
   array of names; the order of the tools is ignored. */
bool tools_differ(struct str before, struct str now, struct hasher *h, struct buf *detail);

#endif
