/* The opening handshake of a WebSocket client, bytes in and bytes out (RFC 6455 section
   4.1), and the one value of it that a server computes too. */
#ifndef ROLLDBG_NET_HANDSHAKE_H
#define ROLLDBG_NET_HANDSHAKE_H

#include "base/buf.h"
#include "base/error.h"

#define HANDSHAKE_KEY_BYTES  16
#define HANDSHAKE_ACCEPT_MAX 32

/* The Sec-WebSocket-Accept that answers a key (RFC 6455 section 4.2.2). */
void handshake_accept(struct str key, char out[HANDSHAKE_ACCEPT_MAX]);

struct handshake {
	struct buf request;                /* to be sent */
	struct buf reply;                  /* what has come */
	char accept[HANDSHAKE_ACCEPT_MAX]; /* that fits our key */
	int status;
	size_t head; /* bytes of the reply's head: what follows are frames, or a body */
};

/* url: http or https. key: HANDSHAKE_KEY_BYTES random bytes. FAIL_USAGE: a header that is
   none. */
MUST_USE int handshake_begin(struct handshake *h, const char *url, const char *user_agent,
                             const char *const *headers, size_t header_count,
                             const unsigned char *key, struct error *err);

/* Takes more bytes of the reply; interim responses (1xx but 101) are skipped. 1: the head is whole, status and head are set; a 101 is
   one that accepts our key and no extension. 0: more is needed. -1: FAIL_PROTOCOL. */
MUST_USE int handshake_feed(struct handshake *h, struct str bytes, struct error *err);

void handshake_release(struct handshake *h);

#endif
