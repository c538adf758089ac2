/* Is the tool that the user named as state source one of the server's? */
#ifndef ROLLDBG_ENV_MCP_STATE_TOOL_H
#define ROLLDBG_ENV_MCP_STATE_TOOL_H

#include "env/mcp/reply.h"
#include "env/mcp/session.h"
#include "env/state_source.h"

/* For STATE_TOOL: FAIL_USAGE, with the nearest tool, if the tool is not in the list (a raw JSON
   array) and the server refuses to call it; it may execute tools that it does not list. No call is
   made if the tool is in the list, or if the list is absent or empty. */
MUST_USE int mcp_check_state_tool(const struct state_source *s, struct str tools,
                                  struct mcp_session *session, struct mcp_reading *reading,
                                  struct error *err);

#endif
