/* The tools a server advertises, over all pages of tools/list. */
#ifndef ROLLDBG_ENV_MCP_TOOLS_H
#define ROLLDBG_ENV_MCP_TOOLS_H

#include "base/hash.h"
#include "env/mcp_session.h"

/* Fills tools with one raw JSON array: at most 16 MiB, whole tools, each name once; what
   was left out is queued as events. *endless: a cursor repeated, or the pages did not
   end; what came until then is there. r->got other than
   MCP_GOT_RESULT: how the server declined. -1 only when interrupted, or ours. */
MUST_USE int mcp_list_tools(struct mcp_session *s, struct buf *tools, bool *endless,
                            struct mcp_reply *r, struct error *err);

/* Does the advertised tool say that it changes nothing (annotations.readOnlyHint)? */
bool mcp_tool_reads_only(struct str tools, struct str name);

/* Do two lists advertise different tools? Then detail is {"added","removed","changed"},
   names each; the order of the tools is no difference. */
bool mcp_tools_differ(struct str before, struct str now, struct hasher *h,
                      struct buf *detail);

#endif
