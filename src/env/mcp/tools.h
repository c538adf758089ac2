/* The tools of an MCP server: all pages of tools/list, and calls. Its resources. */
#ifndef ROLLDBG_ENV_MCP_TOOLS_H
#define ROLLDBG_ENV_MCP_TOOLS_H

#include "env/mcp/session.h"

/* Fills tools with one raw JSON array: at most 16 MiB, whole tools, each name once; omissions
   are queued as events. *endless: a cursor repeated, or the pages did not end; the tools
   received so far are returned. r->got other than MCP_GOT_RESULT: how the server refused. -1
   only if interrupted, or for a local failure. */
MUST_USE int mcp_list_tools(struct mcp_session *s, struct buf *tools, bool *endless,
                            struct mcp_reply *r, struct error *err);

/* mcp_call_once; if the server refuses the headers before executing the call, the tools are
   listed again and the call is sent again (event `retry`). */
MUST_USE int mcp_call_tool(struct mcp_session *s, struct str name, struct str arguments,
                           struct mcp_reply *r, struct error *err);

/* Appends the resources, at most 16 pages of them, as a raw JSON array; nothing if the server lists none.
   -1 only if interrupted, or for a local failure. */
MUST_USE int mcp_list_resources(struct mcp_session *s, struct buf *out, struct error *err);

#endif
