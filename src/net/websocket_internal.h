/* The fields of a WebSocket, for websocket.c (frames), websocket_open.c (the handshake) and
   their tests. */
#ifndef ROLLDBG_NET_WEBSOCKET_INTERNAL_H
#define ROLLDBG_NET_WEBSOCKET_INTERNAL_H

#include "net/handshake.h"
#include "net/io_internal.h"
#include "net/target.h"
#include "net/websocket.h"

#include <wslay/wslay.h>

/* Number of messages not yet taken at which reading from the peer pauses. */
#define INBOX_MAX 64
#define MASKS     256 /* random bytes fetched at a time; a mask needs four */
/* Limit of one read, so that a waiting call can check its deadline. */
#define ROUND_BYTES ((size_t)64 << 10)
/* Bytes of pongs that a peer has not read at which reading from it pauses. */
#define PONGS_MAX ((size_t)64 << 10)

struct ws_message {
	struct ws_message *next;
	struct buf bytes;
	bool binary;
};

struct websocket {
	struct io_transfer transfer; /* must be first: CURLOPT_PRIVATE points here */
	struct io *io;
	/* How bytes are moved: through libcurl, directly on the socket, or by a test. */
	CURLcode (*receive)(struct websocket *ws, void *to, size_t room, size_t *n);
	CURLcode (*transmit)(struct websocket *ws, const void *bytes, size_t n, size_t *sent);
	struct target target;
	struct handshake handshake;
	wslay_event_context_ptr frames; /* NULL between messages */
	curl_socket_t fd;
	bool tls, started;
	bool ours;      /* fd is ours; libcurl no longer uses it */
	uint8_t opcode; /* of the frame being received */
	uint64_t close_bytes;
	size_t unframed;    /* bytes given to libwslay that are not part of a complete frame */
	size_t frame_bytes; /* of the frame being received, with its header */
	bool fragmented;    /* more frames of the message follow */
	bool too_large;
	bool drained; /* the last read was short: the socket is empty */
	bool more;    /* the last round ended early: poll will not report the rest */
	size_t round; /* number of bytes in this round */
	short watched;
	struct buf early;   /* received together with the handshake's reply */
	struct buf out;     /* frames to be sent */
	size_t messages;    /* length of `out` up to our own last message */
	struct buf partial; /* the message being received */
	struct ws_message *first, *last, *taken;
	size_t inbox, inbox_bytes, max_bytes;
	unsigned char masks[MASKS];
	size_t masks_left;
	enum websocket_end end;
	int code;
	bool page; /* the handshake was declined with a web page */
	struct buf reason;
	struct buf why;
	char *curl_why; /* CURL_ERROR_SIZE bytes, while libcurl has the connection */
};

/* Sets why and how the connection ended; the first reason counts. `why` continues after
   "host:port ". */
void websocket_end_with(struct websocket *ws, enum websocket_end end, const char *why);
/* Sends as much of ws->out as possible. */
void websocket_flush(struct websocket *ws);
/* Reads available data and sends what is queued, pongs included. */
void websocket_serve(struct websocket *ws);
/* Sets FAIL_TIMEOUT: "host:port <what> in time" */
int websocket_out_of_time(const struct websocket *ws, const char *what, struct error *err);

#endif
