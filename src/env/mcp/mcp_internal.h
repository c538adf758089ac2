/* The directory env/mcp/: the MCP adapter: sessions, their channels, tools, the control plane,
   replies. The interface it implements is env.h; JSON-RPC and event streams are in protocol/. */

/* The internals of an MCP environment, shared by mcp.c (open to close), state.c and
   refused.c. */
#pragma once

#include "base/mem.h"
#include "env/ignore_paths.h"
#include "env/mcp/control_plane.h"
#include "env/mcp/known.h"
#include "env/mcp/mcp_session.h"
#include "env/state_source.h"
#include "protocol/tool_list.h"

struct env_mcp {
	struct env base;
	const struct env_conf *conf;
	struct mcp_session *session;
	struct control_plane control;
	struct state_source source;
	struct mcp_known known;
	struct ignore_paths ignored;
	struct buf tools, extra, client_version;
	struct arena kept; /* the last reply's slices */
	struct str last;   /* last observation, if the state is read from it */
	bool state_read;   /* the state of the first turn is in source.value */
	bool acted;        /* a step was sent */
};

/* Handles a refused session. -1 with an error: no server, or not an MCP server. Otherwise it is
   a refusal, which is recorded. */
MUST_USE int mcp_refused(struct env_mcp *e, const struct mcp_reply *r, const char *what,
                         struct env_reply *refusal, struct error *err);

/* After list_changed: lists the tools again and reports the differences. */
MUST_USE int mcp_check_tools(struct env_mcp *e, struct error *err);

/* ---- the state, from its source: the control plane, a resource or a tool (state.c) ---- */

/* The current state, absent if it could not be read (s->why says why). `last` is the last
   observation, for STATE_OBSERVATION: absent after a failed step. */
MUST_USE int mcp_read_state(struct state_source *s, struct mcp_session *session,
                            struct control_plane *control, struct reply_reading *reading,
                            struct str last, struct str *out, struct error *err);

/* For STATE_TOOL: FAIL_USAGE, with the nearest tool, if the tool is not in the list (a raw JSON
   array) and the server refuses to call it; it may execute tools that it does not list. No call is
   made if the list is absent or empty, or has the tool and all that it requires is given; FAIL_USAGE, with
   the argument, if the tool refuses because one is missing. */
MUST_USE int mcp_check_state_tool(const struct state_source *s, struct str tools,
                                  struct mcp_session *session, struct reply_reading *reading,
                                  struct error *err);
