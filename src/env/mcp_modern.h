/* MCP without sessions (revision 2026-07-28, "Versioning", "Streamable HTTP", "Multi
   Round-Trip Requests"): every request says for itself who asks in which revision; the
   server asks nothing by itself, but answers that it needs more input. */
#ifndef ROLLDBG_ENV_MCP_MODERN_H
#define ROLLDBG_ENV_MCP_MODERN_H

#include "env/mcp_wire.h"

/* Asks server/discover, decides from the answer whether s->modern holds, and logs which
   and why. *final: there is nothing more to try; else `initialize` may still open a
   session. reply and failures as mcp_session_open. */
MUST_USE int mcp_modern_open(struct mcp_session *s, bool *final, struct mcp_reply *reply,
                             struct error *err);

/* A request and what comes of it: another revision or other headers when the server
   refused those before it did anything (HTTP 400; event `retry`), answers to what it asks
   (event `notification`), at most MCP_ROUNDS_MAX times and within one timeout. A result
   of unknown kind is MCP_GOT_UNUSABLE, but for tools/call, where the caller looks. */
#define MCP_ROUNDS_MAX 10

MUST_USE int mcp_modern_request(struct mcp_session *s, const char *method,
                                struct str params, bool may_repeat,
                                struct mcp_reply *reply, struct error *err);

/* Is the error one that only servers of this revision send? */
bool mcp_is_modern_error(const struct mcp_reply *reply);

/* For the reader of tools/list: may the tool be offered? When not, the event `noise` says
   why. One that wants headers is remembered for the calls to come. */
bool mcp_modern_takes_tool(struct mcp_session *s, struct str tool);

#endif
