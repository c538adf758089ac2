/* The inside of one MCP session, for mcp_session.c (its life), mcp_wire.c (its messages)
 * and mcp_tools.c. */
#ifndef ROLLDBG_ENV_MCP_WIRE_H
#define ROLLDBG_ENV_MCP_WIRE_H

#include "env/mcp_session.h"
#include "protocol/sse.h"

struct mcp_session {
	struct mcp_conf conf;
	struct buf url, id, id_header, version_header, name, version;
	const char **headers;
	size_t header_count;
	struct buf request, body, text, scratch, location;
	struct buf other_id;  /* the newest session id a reply named that is not ours */
	uint64_t deadline_ns; /* of the exchange under way; UINT64_MAX: none */
	unsigned asked;       /* requests of the server within it */
	struct sse sse;
	int64_t next_id;
	const char *revision; /* negotiated, or to be offered */
	bool tools_changed;
};

/* The headers of the next requests, from what is negotiated by now. */
void mcp_wire_headers(struct mcp_session *s);

/* A POST of body to the session's URL; borrows both. */
struct http_request mcp_wire_post(struct mcp_session *s, const struct buf *body,
                                  bool may_repeat);

/* Sends a message that gets no answer of its own (a notification, or our answer to the
   server). What the server says to it is kept as an event when it is no 2xx. -1 only when
   interrupted, or ours. timeout_ms 0: none. */
MUST_USE int mcp_wire_send(struct mcp_session *s, const struct buf *body,
                           uint64_t timeout_ms, struct error *err);

/* Sends q and takes the answer to request `id`; what else the server sends meanwhile is
   dealt with as it comes. -1 only when interrupted, or ours. */
MUST_USE int mcp_wire_exchange(struct mcp_session *s, const struct http_request *q,
                               int64_t id, struct mcp_reply *r, struct error *err);

#endif
