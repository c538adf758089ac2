/* The frames of one WebSocket, server side of RFC 6455: bytes in and out, messages between.
   frames.c is the only file of this directory that includes libwslay. (Clients use libcurl, which
   cannot accept connections.) */
#ifndef ROLLDBG_SERVE_HOST_FRAMES_H
#define ROLLDBG_SERVE_HOST_FRAMES_H

#include "base/buf.h"

#define FRAMES_MESSAGE_MAX ((size_t)16 << 20)

struct wslay_event_context;

struct frame_message {
	struct frame_message *next;
	struct buf bytes;
	bool binary;
};

struct frames {
	struct wslay_event_context *wslay;
	struct str input; /* input that wslay has not read yet */
	struct frame_message *first, *last;
	size_t count;   /* of queued messages */
	uint32_t pings; /* sent; the payload of the last one */
	/* Read by the owner of the connection. */
	struct buf out;     /* bytes to send */
	bool pong_received; /* the last ping was answered */
	bool peer_closed;   /* a Close was received; the reply is in `out` */
	bool broken;        /* protocol error of the peer; the Close is in `out` */
};

void frames_init(struct frames *f);
void frames_release(struct frames *f); /* zeroed is fine */

/* Processes received bytes. Bytes after the end of the connection are ignored. */
void frames_feed(struct frames *f, struct str bytes);
/* Removes and returns the oldest message, which the caller frees; NULL: none. */
struct frame_message *frames_next(struct frames *f);
void frame_message_free(struct frame_message *m); /* NULL is fine */

/* Append a frame to `out`; no effect after a Close. */
void frames_send(struct frames *f, struct str text);
void frames_ping(struct frames *f);
void frames_close(struct frames *f, int code, const char *reason);

#endif
