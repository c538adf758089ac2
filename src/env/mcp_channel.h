/* How the messages of an MCP session travel. What they mean is the session's business
   (mcp_session.c, mcp_wire.c), and the same on every channel. */
#ifndef ROLLDBG_ENV_MCP_CHANNEL_H
#define ROLLDBG_ENV_MCP_CHANNEL_H

#include "env/mcp_session.h"

/* One message of ours. All borrowed, for the length of the call. */
struct mcp_outgoing {
	struct str text;     /* the message as it is sent */
	const char *method;  /* NULL: our answer to a request of the server */
	struct str params;   /* raw JSON; absent: none, or an answer */
	int64_t id;          /* of a request */
	uint64_t timeout_ms; /* the whole exchange; 0: none */
	/* "Name: value", of this message alone; channels without headers send none */
	const char *const *headers;
	size_t header_count;
	bool may_repeat; /* it may reach the server twice */
	bool opens;      /* the request that opens the session */
};

/* First member of each channel's own struct. */
struct mcp_channel {
	struct mcp_session *session;
};

struct mcp_channel_ops {
	const char *name;
	bool shared; /* all answers come over one stream: their ids tell them apart */
	/* Connects nothing yet. Borrows s, whose url it speaks to. */
	struct mcp_channel *(*create)(struct mcp_session *s);
	/* Sends a request and takes the answer to it into *r, whose slices stand in
	   s->kept; what else the server sends meanwhile goes to mcp_take(). A peer that
	   fails us is an answer, too (mcp_or_failure). -1 only when interrupted, or ours.
	 */
	int (*exchange)(struct mcp_channel *c, const struct mcp_outgoing *q,
	                struct mcp_reply *r, struct error *err);
	/* Sends a message that gets no answer of its own (a notification, or our answer
	   to the server). When the server does not want it the event `noise` says so. -1
	   only when interrupted, or ours. */
	int (*send)(struct mcp_channel *c, const struct mcp_outgoing *q,
	            struct error *err);
	/* Nobody awaits an answer: takes one message that the server sent by itself, when
	   there is one, and deals with it. *wake_ns: see io_tend. 1: it did, 0: there was
	   none; -1 as above, and when the server went too far. */
	int (*listen)(struct mcp_channel *c, uint64_t *wake_ns, struct error *err);
	/* Ends the session politely, bounded in time. */
	void (*goodbye)(struct mcp_channel *c);
	/* Sends nothing. */
	void (*destroy)(struct mcp_channel *c);
};

extern const struct mcp_channel_ops mcp_http;  /* Streamable HTTP */
extern const struct mcp_channel_ops mcp_sse;   /* the older HTTP+SSE */
extern const struct mcp_channel_ops mcp_stdio; /* a child process */

#endif
