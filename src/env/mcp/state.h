/* Reads the state of an MCP server from its source: the control plane, a resource or a tool. */
#ifndef ROLLDBG_ENV_MCP_STATE_H
#define ROLLDBG_ENV_MCP_STATE_H

#include "env/mcp/control_plane.h"
#include "env/mcp/reply.h"
#include "env/mcp/session.h"
#include "env/state_source.h"

/* The current state, absent if it could not be read (s->why says why). `last` is the last
   observation, for STATE_OBSERVATION: absent after a failed step. */
MUST_USE int mcp_read_state(struct state_source *s, struct mcp_session *session,
                            struct control_plane *control, struct mcp_reading *reading,
                            struct str last, struct str *out, struct error *err);

/* For STATE_TOOL: FAIL_USAGE, with the nearest tool, if the tool is not in the list (a raw JSON
   array) and the server refuses to call it; it may execute tools that it does not list. No call is
   made if the list is absent or empty, or has the tool and all that it requires is given; FAIL_USAGE, with
   the argument, if the tool refuses because one is missing. */
MUST_USE int mcp_check_state_tool(const struct state_source *s, struct str tools,
                                  struct mcp_session *session, struct mcp_reading *reading,
                                  struct error *err);

#endif
