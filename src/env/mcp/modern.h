/* MCP without sessions (revision 2026-07-28, "Versioning", "Streamable HTTP", "Multi Round-Trip
   Requests"): every request names its client and revision; the server sends no requests, but can
   reply that it requires input. */
#ifndef ROLLDBG_ENV_MCP_MODERN_H
#define ROLLDBG_ENV_MCP_MODERN_H

#include "env/mcp/session.h"

/* Sends server/discover, determines s->modern from the answer, and logs the result and the
   reason. *final: there is nothing else to try; otherwise `initialize` may still open a session.
   Reply and failures as for mcp_session_open. */
MUST_USE int mcp_modern_open(struct mcp_session *s, bool *final, struct mcp_reply *reply,
                             struct error *err);

/* Sends a request, repeating it if needed: in another revision if the server refused this one
   before executing it (HTTP 400; event `retry`), and with answers to its input requests (event
   `notification`), at most MCP_ROUNDS_MAX times and within one timeout. A result of an unknown
   kind is MCP_GOT_UNUSABLE, except for tools/call, whose caller checks it. */
#define MCP_ROUNDS_MAX 10

MUST_USE int mcp_modern_request(struct mcp_session *s, const char *method, struct str params,
                                bool may_repeat, struct mcp_reply *reply, struct error *err);

/* Is the error one that only servers of this revision send? */
bool mcp_is_modern_error(const struct mcp_reply *reply);

/* May a tool of tools/list be offered? If not, an event `noise` has the reason. Tools that
   require headers are stored for later calls. */
bool mcp_modern_accepts_tool(struct mcp_session *s, struct str tool);

#endif
