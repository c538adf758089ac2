/* Transports of an MCP session. Messages are interpreted in session.c and wire.c, in the same
   way for every channel. */
#ifndef ROLLDBG_ENV_MCP_CHANNEL_H
#define ROLLDBG_ENV_MCP_CHANNEL_H

#include "env/mcp/exchange.h"

/* A message to send. Everything is borrowed during the call. */
struct mcp_outgoing {
	struct str text;     /* the whole message */
	const char *method;  /* NULL: our response to a request of the server */
	struct str params;   /* raw JSON; absent: none, or a response */
	int64_t id;          /* of a request */
	uint64_t timeout_ms; /* for the whole exchange; 0: none */
	/* "Name: value", of this message only; ignored by channels without headers */
	const char *const *headers;
	size_t header_count;
	bool may_repeat; /* may be sent twice */
	bool opens;      /* it opens the session */
};

/* First member of each channel's own struct. */
struct mcp_channel {
	struct mcp_session *session;
};

struct mcp_channel_ops {
	const char *name;
	bool shared; /* all responses share one stream and are matched by id */
	/* Does not connect yet. Borrows s and connects to its url later. */
	struct mcp_channel *(*create)(struct mcp_session *s);
	/* Sends a request and stores its response in *r, with slices into s->kept; other
	   messages received meanwhile are passed to mcp_process(). A failure of the peer is also a
	   response (mcp_or_failure). -1 only when interrupted, or for a local failure. */
	int (*exchange)(struct mcp_channel *c, const struct mcp_outgoing *q, struct mcp_reply *r,
	                struct error *err);
	/* Sends a message without a response (a notification, or our response to the server).
	   If the server refuses it, an event `noise` is queued. -1 only when interrupted, or for
	   a local failure. */
	int (*send)(struct mcp_channel *c, const struct mcp_outgoing *q, struct error *err);
	/* Handles one unsolicited message of the server, if there is one, while no response is
	   awaited. *wake_ns: see io_set_idle. 1: handled one, 0: there was none; -1 as above, and
	   if the server sends too many. */
	int (*listen)(struct mcp_channel *c, uint64_t *wake_ns, struct error *err);
	/* Closes the session, within bounded time. */
	void (*close)(struct mcp_channel *c);
	/* Frees memory; sends nothing. */
	void (*destroy)(struct mcp_channel *c);
};

extern const struct mcp_channel_ops mcp_http;  /* Streamable HTTP */
extern const struct mcp_channel_ops mcp_sse;   /* the older HTTP+SSE */
extern const struct mcp_channel_ops mcp_stdio; /* a child process */

#endif
