/* One MCP session (specification revisions 2024-11-05 to 2025-11-25, "Transports" and
   "Lifecycle"): initialize, requests, replies to the server's own requests, close; or, with
   revision 2026-07-28, the same calls without a session. Independent of environments. */
#ifndef ROLLDBG_ENV_MCP_SESSION_H
#define ROLLDBG_ENV_MCP_SESSION_H

#include "env/mcp/exchange.h"

/* Opens nothing yet. Borrows conf's pointers. */
struct mcp_session *mcp_session_new(const struct mcp_conf *conf);
void mcp_session_free(struct mcp_session *s); /* NULL is fine; sends nothing */

/* Sends initialize and notifications/initialized, or server/discover. Returns 0 with reply->got
   == MCP_GOT_RESULT if the session is open; 0 with any other value if the server refused; -1 if
   interrupted, or for a local failure. */
MUST_USE int mcp_session_open(struct mcp_session *s, struct mcp_reply *reply, struct error *err);

/* Sends a request that may be repeated: if the session is lost (404) it is replaced once, the
   event `session-replaced` is queued and the request sent again. */
MUST_USE int mcp_request(struct mcp_session *s, const char *method, struct str params,
                         struct mcp_reply *reply, struct error *err);

/* A tool call, sent at most once. If the session is lost it is replaced for later calls, but
   this one stays lost (reply->session_lost). If the server refuses the headers, the caller may
   list the tools and call again: see mcp_call_tool (tools.h). */
MUST_USE int mcp_call_once(struct mcp_session *s, struct str name, struct str arguments,
                           struct mcp_reply *reply, struct error *err);

/* Closes the session over its transport, within a short time. */
void mcp_session_close(struct mcp_session *s);

const char *mcp_session_revision(const struct mcp_session *s);  /* of an open session */
const char *mcp_session_transport(const struct mcp_session *s); /* such as "Streamable HTTP" */
/* May be empty: stateless servers assign none. */
struct str mcp_session_id(const struct mcp_session *s);
bool mcp_session_is_none(const struct mcp_session *s);    /* the revision has no sessions */
const char *mcp_session_url(const struct mcp_session *s); /* after redirects */
struct str mcp_server_name(const struct mcp_session *s); /* decoded serverInfo; absent: not given */
struct str mcp_server_version(const struct mcp_session *s);
/* Was list_changed received since the last call of this function? */
bool mcp_tools_changed(struct mcp_session *s);

#endif
