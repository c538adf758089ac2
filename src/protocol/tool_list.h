/* Advertised tools, as MCP and recordings have them: raw JSON arrays. */
#pragma once

#include "base/buf.h"

/* The tool with that (decoded) name; absent: there is none. */
struct str tool_find(struct str tools, struct str name);
struct str tool_schema(struct str tool); /* inputSchema or input_schema; may be absent */

/* Is the tool marked read-only (annotations.readOnlyHint)? */
bool tool_is_read_only(struct str tools, struct str name);

/* Do the lists differ? Then detail is set to {"added","removed","changed"}, each an array of
   names; the order of the tools is ignored. */
bool tools_differ(struct str before, struct str now, struct buf *detail);
