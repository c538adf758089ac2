/* Properties of advertised tool lists: raw JSON arrays. */
#pragma once

#include "base/buf.h"
#include "base/hash.h"

/* The tool of that name; absent: there is none. */
struct str tool_list_find(struct str tools, struct str name);
bool tool_is_listed(struct str tools, struct str name);

/* Is the tool marked read-only (annotations.readOnlyHint)? */
bool tool_is_read_only(struct str tools, struct str name);

/* Do the lists differ? Then detail is set to {"added","removed","changed"}, each an array of
   names; the order of the tools is ignored. */
bool tools_differ(struct str before, struct str now, struct buf *detail);
