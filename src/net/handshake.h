/* The opening handshake of a WebSocket client, bytes in and bytes out (RFC 6455 section 4.1),
   and the accept key, which servers compute too. */
#pragma once

#include "base/base.h"
#include "base/buf.h"
#include "base/error.h"
#include "protocol/http_stream.h"

#define HANDSHAKE_KEY_BYTES  16
#define HANDSHAKE_ACCEPT_MAX 32

/* The Sec-WebSocket-Accept for a key (RFC 6455 section 4.2.2). */
void handshake_accept(struct str key, char out[HANDSHAKE_ACCEPT_MAX]);

/* Of a request, also without a WebSocket. FAIL_USAGE: it is not "Name: value" (or "Name;") on one line. */
MUST_USE int handshake_check_header(const char *header, struct error *err);

struct handshake {
	struct buf request;                /* the request, to be sent */
	char accept[HANDSHAKE_ACCEPT_MAX]; /* the expected Sec-WebSocket-Accept */
	/* of the reply, once its head is complete */
	int status;
	struct buf fields; /* its header lines */
	struct buf rest;   /* what came with it: frames or a body */
	struct http_stream stream;
};

/* url: http or https. key: HANDSHAKE_KEY_BYTES random bytes. FAIL_USAGE: an invalid header. */
MUST_USE int handshake_begin(struct handshake *h, const char *url, const char *user_agent,
                             const char *const *headers, size_t header_count,
                             const unsigned char *key, struct error *err);

/* Takes more received bytes; interim responses (1xx except 101) are skipped. Returns 1 once the
   head is complete: a 101 has accepted our key and no extension. Returns 0 if more bytes are needed, -1 on FAIL_PROTOCOL. */
MUST_USE int handshake_feed(struct handshake *h, struct str bytes, struct error *err);

void handshake_release(struct handshake *h);
