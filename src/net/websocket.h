/* One WebSocket connection as a client (RFC 6455): text messages out, messages in. While
   anything of the same io waits, pings are answered and messages are taken in, so a peer
   that pings is content with us however long a policy thinks.

   The connection is libcurl's (TLS, proxies, certificates, name look-ups), the frames are
   libwslay's. No extension is offered, no redirect followed; loopback never goes through
   a proxy. */
#ifndef ROLLDBG_NET_WEBSOCKET_H
#define ROLLDBG_NET_WEBSOCKET_H

#include "base/buf.h"
#include "net/io.h"

struct websocket_conf {
	const char *url;            /* ws, wss, http or https */
	const char *const *headers; /* "Name: value", sent with the handshake */
	size_t header_count;
	uint64_t timeout_ms; /* connecting and handshake; 0: none */
	size_t max_bytes;    /* cap of one message; 0: BUF_MAX_MESSAGE */
};

enum websocket_end {
	WEBSOCKET_OPEN,
	WEBSOCKET_DECLINED, /* the handshake got another answer than 101 */
	WEBSOCKET_CLOSED,   /* the peer sent a Close frame */
	WEBSOCKET_LOST,     /* the connection ended without one */
	WEBSOCKET_BROKEN,   /* the peer broke the protocol, or sent too much: we closed */
};

struct websocket;

/* 0: *out is open, or WEBSOCKET_DECLINED. -1, nothing to free: FAIL_TRANSPORT (not reached,
   TLS), FAIL_PROTOCOL (not HTTP, or an invalid 101), FAIL_TIMEOUT, FAIL_INTERRUPTED, FAIL_USAGE
   (the URL or a header). Borrows nothing but io. */
MUST_USE int websocket_open(struct io *io, const struct websocket_conf *conf,
                            struct websocket **out, struct error *err);
/* Ends the connection at once; NULL is fine. */
void websocket_free(struct websocket *ws);
/* Close 1000, and waits for the peer's for at most timeout_ms. */
void websocket_close(struct websocket *ws, uint64_t timeout_ms);

/* Queues one text message and sends what it can without waiting. Does nothing on a closed
   connection: websocket_receive reports that. */
void websocket_send(struct websocket *ws, struct str text);
/* The same for two messages, in one packet if it can be. */
void websocket_send_both(struct websocket *ws, struct str first, struct str second);

/* Reads available data without waiting; true if a message can be received. Call it before
   sending: a peer's last message before it closes is lost if we send into the closed connection
   first. */
bool websocket_heard(struct websocket *ws);

struct websocket_message {
	struct str bytes; /* valid until the next websocket_receive */
	bool binary;
};

/* 1: the oldest message not yet taken. 0: the connection has ended, and everything that
   came before that has been taken. -1: FAIL_TIMEOUT, FAIL_INTERRUPTED, FAIL_SYSTEM.
   timeout_ms 0 does not wait, and then nothing waiting is FAIL_TIMEOUT. */
MUST_USE int websocket_receive(struct websocket *ws, struct websocket_message *out,
                               uint64_t timeout_ms, struct error *err);

enum websocket_end websocket_end(const struct websocket *ws);
/* How it ended, as a sentence that names host and port; "" while it is open. */
const char *websocket_why(const struct websocket *ws);
/* The HTTP status of WEBSOCKET_DECLINED, the code of WEBSOCKET_CLOSED (1005: the peer
   gave none), the code that we closed with for WEBSOCKET_BROKEN; else 0. */
int websocket_code(const struct websocket *ws);
/* What came with WEBSOCKET_DECLINED was a web page, not an answer of a server of messages. */
bool websocket_got_page(const struct websocket *ws);

#endif
