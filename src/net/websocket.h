/* One WebSocket connection as a client (RFC 6455): sends and receives text messages. While
   anything on the same io waits, pings are answered and messages are received, so that a peer's
   ping timeout does not close the connection however long a policy takes. The connection is
   libcurl's (TLS, proxies, certificates, name resolution), the frames are libwslay's. No
   extension is offered, no redirect followed; loopback never uses a proxy. */
#pragma once

#include "base/buf.h"
#include "net/io.h"

struct websocket_conf {
	const char *url;            /* ws, wss, http or https */
	const char *const *headers; /* "Name: value", sent with the handshake */
	size_t header_count;
	uint64_t timeout_ms; /* for connecting and the handshake; 0: none */
	size_t max_bytes;    /* maximum size of a message; 0: BUF_MAX_MESSAGE */
};

enum websocket_end {
	WEBSOCKET_OPEN,
	WEBSOCKET_DECLINED, /* the handshake was answered with another status than 101 */
	WEBSOCKET_CLOSED,   /* the peer sent a Close frame */
	WEBSOCKET_LOST,     /* the connection ended without a Close frame */
	WEBSOCKET_BROKEN,   /* the peer violated the protocol or exceeded a limit, and we closed */
};

struct websocket;

/* Returns 0, and *out is open or WEBSOCKET_DECLINED. Returns -1, with nothing to free, on
   FAIL_TRANSPORT (not reached, TLS), FAIL_PROTOCOL (not HTTP, or an invalid 101), FAIL_TIMEOUT,
   FAIL_INTERRUPTED, FAIL_USAGE (the URL or a header). Borrows only io. */
MUST_USE int websocket_open(struct io *io, const struct websocket_conf *conf,
                            struct websocket **out, struct error *err);
/* Ends the connection without a Close frame; NULL is fine. */
void websocket_free(struct websocket *ws);
/* Sends Close 1000 and waits for the peer's Close for at most timeout_ms. */
void websocket_close(struct websocket *ws, uint64_t timeout_ms);

/* Queues one text message and sends what it can without waiting. Does nothing on a closed
   connection: websocket_receive reports that. */
void websocket_send(struct websocket *ws, struct str text);
/* The same for two messages, in one packet if possible. */
void websocket_send_both(struct websocket *ws, struct str first, struct str second);

/* Reads available data without waiting; true if a message can be received. Call it before
   sending: if we send on a connection that the peer has closed, its last message is lost. */
bool websocket_has_message(struct websocket *ws);

struct websocket_message {
	struct str bytes; /* valid until the next websocket_receive */
	bool binary;
};

/* Returns 1 and the oldest message not yet taken; 0 if the connection has ended and all messages
   have been taken; -1 on FAIL_TIMEOUT, FAIL_INTERRUPTED, FAIL_SYSTEM. timeout_ms 0 does not
   wait: if there is no message, that is FAIL_TIMEOUT. */
MUST_USE int websocket_receive(struct websocket *ws, struct websocket_message *out,
                               uint64_t timeout_ms, struct error *err);

enum websocket_end websocket_end(const struct websocket *ws);
/* How it ended, as a sentence that names host and port; "" while it is open. */
const char *websocket_why(const struct websocket *ws);
/* The HTTP status of WEBSOCKET_DECLINED, the close code of WEBSOCKET_CLOSED (1005: none given),
   the code that we sent for WEBSOCKET_BROKEN; else 0. */
int websocket_code(const struct websocket *ws);
/* The body of WEBSOCKET_DECLINED was a web page, not an error message of such a server. */
bool websocket_got_page(const struct websocket *ws);
