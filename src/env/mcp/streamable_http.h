/* Common code of the HTTP channels: their requests, and event streams of messages. */
#pragma once

#include "env/mcp/mcp_session.h"
#include "net/http.h"
#include "protocol/sse.h"

/* Header lines of one request. Empty if zeroed. */
struct mcp_http_headers {
	const char **line;
	struct buf text; /* of those that are not constant, each terminated by NUL */
};

void mcp_http_headers_release(struct mcp_http_headers *h);
/* The message as a POST to this URL: with the headers `accept` (NULL: none), the user's, those of the
   session as negotiated so far, and the message's. */
struct http_request mcp_http_post(struct mcp_http_headers *h, const struct mcp_session *s,
                                  const char *url, const char *accept,
                                  const struct mcp_outgoing *q);
/* A GET of an event stream, after the event with that id (absent: from the start). */
struct http_request mcp_http_get(struct mcp_http_headers *h, const struct mcp_session *s,
                                 struct str last_id);

/* Limit on ids that are sent back in a header: servers reject longer headers. */
#define MCP_ID_MAX ((size_t)8 << 10)

/* Sends a message without a response and waits for the status; a status other than 2xx, or none,
   is noted. Afterwards *x can only be released (may be NULL). -1: interrupted, or a local
   failure. */
MUST_USE int mcp_post_message(struct mcp_session *s, const struct http_request *q,
                              struct http_exchange **x, struct error *err);

/* A stream of messages. The background stream is a GET that is kept open: many servers do not support
   it (405), which is allowed; when it ends it is reopened after the time requested by the server. That
   of HTTP+SSE, a GET too, is the session. The answer to a POST may also be one: its channel reads it. */
enum mcp_stream { MCP_BACKGROUND, MCP_IS_SESSION, MCP_IS_ANSWER };

struct mcp_listen {
	struct mcp_session *session;
	enum mcp_stream kind;
	struct sse sse;
	struct buf message, last_id; /* last_id: of the newest event with an id */
	/* Of a response that is awaited: the id of its request, or MCP_NO_ID, and where it goes. */
	int64_t id;
	struct mcp_reply *reply;
	bool answered;

	/* of a GET */
	struct http_exchange *exchange; /* NULL: not open */
	struct http_request request;
	struct mcp_http_headers headers;
	bool too_large;         /* reported once */
	uint64_t due_ns;        /* when to open it; UINT64_MAX: never */
	unsigned empty_streams; /* consecutive streams without an event */
	/* Of HTTP+SSE: takes the event that names the message endpoint. */
	int (*take_endpoint)(void *channel, struct str data, struct error *err);
	void *channel;
	struct error why; /* how the session ended */
};

void mcp_listen_init(struct mcp_listen *l, struct mcp_session *s, enum mcp_stream kind);
void mcp_listen_release(struct mcp_listen *l);
/* Awaits the response to a request; it is stored in *r, and in the session's kept.body. */
void mcp_listen_await(struct mcp_listen *l, int64_t id, struct mcp_reply *r);
/* Processes the events received so far, each at once, because the server may wait for our reply to one
   before it sends the next; at most up to the awaited response. */
MUST_USE int mcp_listen_process(struct mcp_listen *l, struct error *err);
/* Opens it now, and keeps it open. */
MUST_USE int mcp_listen_start(struct mcp_listen *l, struct error *err);
void mcp_listen_stop(struct mcp_listen *l);

/* Processes one event, or reads what has arrived, or opens the stream when it is due; wake_ns
   and the result are as for `listen` in struct mcp_channel_ops. */
MUST_USE int mcp_listen_serve(struct mcp_listen *l, uint64_t *wake_ns, struct error *err);

/* Handles one piece with all its events, so that an endless stream cannot block the caller. */
MUST_USE int mcp_listen_piece(struct mcp_listen *l, uint64_t *wake_ns, struct error *err);
/* Waits until x is ready (http_ready) or, if x is NULL, for timeout_ms, and meanwhile processes
   the background stream. -1: interrupted, a local failure, or the server sent too much. */
MUST_USE int mcp_listen_until(struct mcp_listen *l, struct http_exchange *x, uint64_t timeout_ms,
                              struct error *err);
