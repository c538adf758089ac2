/* Common code of the HTTP channels: headers, and the stream for unsolicited messages. */
#pragma once

#include "env/mcp/mcp_session.h"
#include "net/http.h"
#include "protocol/sse.h"

/* Header lines of one request, including those of the session. Empty if zeroed. */
struct mcp_http_headers {
	const char **line;
	size_t count;
	struct buf session, version, last;
};

void mcp_http_headers_release(struct mcp_http_headers *h);
/* Adds the NULL-terminated `own`, then the user's and the session's headers as negotiated so
   far. */
void mcp_http_headers_begin(struct mcp_http_headers *h, const struct mcp_session *s,
                            const char *const *own);
/* Last-Event-ID, if there is one. */
void mcp_http_headers_add_last(struct mcp_http_headers *h, struct str event_id);

/* Limit on ids that are sent back in a header: servers reject longer headers. */
#define MCP_ID_MAX ((size_t)8 << 10)

/* Stores the id of an event, if it has one. An id over MCP_ID_MAX is dropped (event `noise`):
   the stream cannot be resumed after it. */
void mcp_store_event_id(struct mcp_session *s, struct buf *last, struct str id);

/* Sends a message without a response and waits for the status; a status other than 2xx, or none,
   is noted. Afterwards *x can only be released (may be NULL). -1: interrupted, or a local
   failure. */
MUST_USE int mcp_post_message(struct mcp_session *s, const struct http_request *q,
                              struct http_exchange **x, struct error *err);

/* A stream of messages: a GET that is kept open. The background stream: many servers do not support it (405),
   which is allowed; when it ends it is reopened after the time requested by the server. That of HTTP+SSE
   is the session. */
struct mcp_listen {
	struct mcp_session *session;
	struct http_exchange *exchange; /* NULL: not open */
	struct http_request request;
	struct mcp_http_headers headers;
	struct sse sse;
	bool too_large;              /* reported once */
	struct buf message, last_id; /* of the newest event with an id */
	uint64_t due_ns;             /* when to open it; UINT64_MAX: never */
	unsigned empty_streams;      /* consecutive streams without an event */
	/* Of HTTP+SSE: takes each event, and the stream is not reopened. NULL: a background stream. */
	int (*take)(void *channel, const struct sse_event *e, struct error *err);
	void *channel;
	struct error why; /* how it ended, if `take` is set */
};

void mcp_listen_init(struct mcp_listen *l, struct mcp_session *s);
void mcp_listen_release(struct mcp_listen *l);
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
