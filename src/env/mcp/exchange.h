/* One request to an MCP server and its response: types shared by the session, its messages
   (session_state.h) and its channels. */
#ifndef ROLLDBG_ENV_MCP_EXCHANGE_H
#define ROLLDBG_ENV_MCP_EXCHANGE_H

#include "net/io.h"
#include "protocol/jsonrpc.h"
#include "recording/events.h"

/* Limit of one response, including its event stream: two of them, a state and an observation,
   must fit in one recorded line. */
#define MCP_REPLY_MAX ((size_t)24 << 20)

struct mcp_session;

/* How a request ended on the wire. */
enum mcp_got {
	MCP_GOT_RESULT,    /* message.result */
	MCP_GOT_ERROR,     /* message.error_*, with any HTTP status */
	MCP_GOT_HTTP,      /* a status and a body that is not JSON-RPC */
	MCP_GOT_UNUSABLE,  /* an unusable response: text is the reason */
	MCP_GOT_TRANSPORT, /* no response: text is the reason */
	MCP_GOT_TIMEOUT,   /* no response in time: text is the reason */
};

/* Slices are valid until the next request of the session. */
struct mcp_reply {
	enum mcp_got got;
	int http_status; /* 0: none */
	int64_t asked;   /* the id of our request */
	struct jsonrpc_message message;
	struct str text;     /* the reason, or the body that is not JSON-RPC */
	struct str media;    /* its Content-Type essence */
	struct str location; /* the target of a redirect that was not followed */
	/* why the server's input requests were not answered; absent: they were, or there were
	   none */
	struct str given_up;
	bool session_lost; /* 404 for a request with our session id */
	/* a tool call refused before execution because of its headers: they depend on the tool
	   list, which may have changed */
	bool headers_refused;
};

/* Which revisions to use: those with sessions, the one without, or whichever the server
   supports. */
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
	char *const *child_variables; /* as in struct env_conf */
	uint64_t timeout_ms;
	const char *client_version; /* clientInfo.version */
	struct str extra;           /* raw JSON object for clientInfo._extra; absent: none */
	struct io *io;
	struct event_queue *events;
};

#endif
