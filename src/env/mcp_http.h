/* What the channels over HTTP share: headers, and the stream on which a server speaks
   without being asked. */
#ifndef ROLLDBG_ENV_MCP_HTTP_H
#define ROLLDBG_ENV_MCP_HTTP_H

#include "env/mcp_wire.h"
#include "net/http.h"
#include "protocol/sse.h"

/* Header lines of one request; those of the session point into this. Zeroed is empty. */
struct mcp_headers {
	const char **line;
	size_t count, room;
	struct buf session, version, last;
};

void mcp_headers_release(struct mcp_headers *h);
/* The user's and the session's, from what is agreed on by now; before them `own`, up to a
   NULL. */
void mcp_headers_begin(struct mcp_headers *h, const struct mcp_session *s,
                       const char *const *own);
void mcp_headers_add(struct mcp_headers *h, const char *line);
/* Last-Event-ID, if there is one. */
void mcp_headers_add_last(struct mcp_headers *h, struct str event_id);

/* Sends a message that gets no answer of its own and waits for the status; one that is no
   2xx, or none, is noted. What can be done with *x then is to leave it (NULL too). -1:
   interrupted, or ours. */
MUST_USE int mcp_post_aside(struct mcp_session *s, const struct http_request *q,
                            struct http_exchange **x, struct error *err);

/* The older HTTP+SSE: has the server named the place for our messages? */
bool mcp_sse_found(const struct mcp_channel *c);

/* The background stream: a GET that is kept open. Many servers offer none (405), which is
   as good. One that ends is opened again after the time that the server asks for. */
struct mcp_listen {
	struct mcp_session *session;
	struct http_exchange *exchange; /* NULL: not open */
	struct http_request request;
	struct mcp_headers headers;
	struct sse sse;
	bool too_large;              /* said once */
	struct buf message, last_id; /* of the newest event that had one */
	uint64_t due_ns;             /* when to open it; UINT64_MAX: not at all */
	unsigned vain;               /* times in a row that it ended without an event */
};

void mcp_listen_init(struct mcp_listen *l, struct mcp_session *s);
void mcp_listen_release(struct mcp_listen *l);
/* From now on: opens it. */
MUST_USE int mcp_listen_start(struct mcp_listen *l, struct error *err);
void mcp_listen_stop(struct mcp_listen *l);

/* Takes one event, or what has come, or opens it when it is time to; wake_ns and the rest
   as `listen` of struct mcp_channel_ops. */
MUST_USE int mcp_listen_serve(struct mcp_listen *l, uint64_t *wake_ns, struct error *err);

/* Waits until x is ready (http_ready), or, x NULL, for timeout_ms; deals meanwhile with
   what the server says on the background stream. -1: interrupted, ours, or the server
   went too far. */
MUST_USE int mcp_listen_until(struct mcp_listen *l, struct http_exchange *x,
                              uint64_t timeout_ms, struct error *err);

#endif
