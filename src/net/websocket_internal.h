/* The fields of a WebSocket, for websocket.c and its tests. */
#pragma once

#include "net/frames.h"
#include "net/handshake.h"
#include "net/io_internal.h"
#include "net/target.h"
#include "net/websocket.h"

/* Number of messages not yet taken at which reading from the peer pauses. */
#define INBOX_MAX 64
/* Bytes of pongs that a peer has not read at which reading from it pauses. */
#define PONGS_MAX ((size_t)64 << 10)

struct websocket {
	struct io_transfer transfer; /* must be first: CURLOPT_PRIVATE points here */
	struct io *io;
	/* How bytes are moved: through libcurl, directly on the socket, or by a test. */
	CURLcode (*receive)(struct websocket *ws, void *to, size_t room, size_t *n);
	CURLcode (*transmit)(struct websocket *ws, const void *bytes, size_t n, size_t *sent);
	struct target target;
	struct handshake handshake;
	struct frames frames;
	curl_socket_t fd;
	bool tls, started;
	bool ours; /* fd is ours; libcurl no longer uses it */
	bool more; /* the last round ended early: poll will not report the rest */
	short watched;
	size_t messages; /* length of what is to be sent up to our own last message */
	struct frame_message *taken;
	size_t max_bytes;
	enum websocket_end end;
	int code;
	bool page; /* the handshake was declined with a web page */
	struct buf why;
	char *curl_why; /* CURL_ERROR_SIZE bytes, while libcurl has the connection */
};

/* Reads available data and sends what is queued, pongs included. */
void websocket_serve(struct websocket *ws);
