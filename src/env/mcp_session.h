/* One MCP session (specification revisions 2024-11-05 to 2025-11-25, "Transports" and
   "Lifecycle"): initialize, requests, the server's own requests answered, goodbye; or,
   with revision 2026-07-28, the same calls without any session. Knows nothing of
   environments. */
#ifndef ROLLDBG_ENV_MCP_SESSION_H
#define ROLLDBG_ENV_MCP_SESSION_H

#include "env/env.h"
#include "protocol/jsonrpc.h"
#include "trajectory/events.h"

/* Of one answer, its event stream included: two of them, a state and an observation, must
   fit into one line of a recording. */
#define MCP_REPLY_MAX ((size_t)24 << 20)

/* The rest of such a URL is a shell's command line. */
#define MCP_STDIO_SCHEME "stdio:"

struct mcp_session;

/* How a request ended, from the wire's point of view. */
enum mcp_got {
	MCP_GOT_RESULT,    /* message.result */
	MCP_GOT_ERROR,     /* message.error_*, with whatever HTTP status */
	MCP_GOT_HTTP,      /* a status and a body that is no JSON-RPC */
	MCP_GOT_UNUSABLE,  /* an answer that cannot be used: text is the sentence */
	MCP_GOT_TRANSPORT, /* no answer: text is the sentence */
	MCP_GOT_TIMEOUT,   /* no answer in time: text is the sentence */
};

/* Slices live until the next request of the session. */
struct mcp_reply {
	enum mcp_got got;
	int http_status; /* 0: none came */
	int64_t asked;   /* the id of our request */
	struct jsonrpc_message message;
	struct str text;     /* the sentence, or the body that was no JSON-RPC */
	struct str media;    /* its Content-Type essence */
	struct str location; /* where a redirect that was not followed points */
	struct str given_up; /* why the server's questions were not answered; absent: they
	                        were, or it had none */
	bool session_lost;   /* 404 on a request that carried our session id */
};

/* Which revisions are spoken: those with sessions, the one without, or whichever the
   server turns out to speak. */
enum mcp_era {
	MCP_ERA_LEGACY,
	MCP_ERA_MODERN,
	MCP_ERA_AUTO,
};

struct mcp_conf {
	const char *url;
	enum mcp_era era;
	const char *const *headers;
	size_t header_count;
	uint64_t timeout_ms;
	const char *client_version; /* clientInfo.version */
	struct str extra; /* raw JSON object for clientInfo._extra; absent: none */
	struct io *io;
	struct event_queue *events;
};

/* Opens nothing yet. Borrows conf's pointers. */
struct mcp_session *mcp_session_new(const struct mcp_conf *conf);
void mcp_session_free(struct mcp_session *s); /* NULL is fine; sends nothing */

/* initialize and notifications/initialized, or server/discover. 0 with reply->got ==
   MCP_GOT_RESULT: the session is open. 0 with anything else: how the server declined. -1:
   interrupted, or ours. */
MUST_USE int mcp_session_open(struct mcp_session *s, struct mcp_reply *reply,
                              struct error *err);

/* A request that may be repeated: when the session is lost (404) it is replaced once, the
   event `session-replaced` is queued and the request sent again. */
MUST_USE int mcp_request(struct mcp_session *s, const char *method, struct str params,
                         struct mcp_reply *reply, struct error *err);

/* A tool call: sent at most once, whatever happens. When the session is lost it is
   replaced for the calls to come; this one stays lost (reply->session_lost). */
MUST_USE int mcp_call_tool(struct mcp_session *s, struct str name, struct str arguments,
                           struct mcp_reply *reply, struct error *err);

/* Says goodbye the way the session travels, within a short time. */
void mcp_session_close(struct mcp_session *s);

const char *mcp_session_revision(const struct mcp_session *s); /* of an open one */
const char *
mcp_session_transport(const struct mcp_session *s); /* such as "Streamable HTTP" */
struct str mcp_session_id(
	const struct mcp_session *s); /* may be empty: stateless servers give none */
bool mcp_session_is_none(const struct mcp_session *s);    /* the revision has none */
const char *mcp_session_url(const struct mcp_session *s); /* after redirects */
struct str
mcp_server_name(const struct mcp_session *s); /* decoded serverInfo; absent: not said */
struct str mcp_server_version(const struct mcp_session *s);
bool mcp_tools_changed(
	struct mcp_session *s); /* list_changed came since the last time this was asked */

#endif
