/* The frames of one WebSocket through libwslay (RFC 6455), of a client or of a server: bytes in and
   out, messages between. No sockets, no extension. */
#pragma once

#include "base/buf.h"

struct wslay_event_context;

struct frame_message {
	struct frame_message *next;
	struct buf bytes;
	bool binary;
};

enum frames_end {
	FRAMES_OPEN,
	FRAMES_CLOSED, /* a Close was received; the reply is in `out` */
	FRAMES_BROKEN, /* the peer violated the protocol or the limit; our Close is in `out` */
};

struct frames {
	/* Read by the owner of the connection. */
	struct buf out; /* bytes to send, which the owner takes: the answers to pings, too */
	struct frame_message *first, *last; /* the messages received */
	size_t count, bytes;                /* of them */
	bool pong_received;                 /* the last ping was answered */
	enum frames_end end;
	int code; /* of the Close: received (1005: none given) or sent because of a violation */
	struct buf reason; /* received with it */

	/* private from here on */
	bool client, too_large;
	struct wslay_event_context *wslay; /* NULL: between two messages */
	struct str input;                  /* that libwslay has not read yet */
	size_t max_bytes;
	struct buf partial; /* the message being received */
	uint8_t opcode;     /* of the frame being received */
	uint64_t close_bytes;
	size_t unframed;    /* bytes given to libwslay that are not part of a complete frame */
	size_t frame_bytes; /* of the frame being received, with its header */
	bool fragmented;    /* more frames of the message follow */
	uint32_t pings;     /* sent; the payload of the last one */
};

/* max_bytes: of a message; out_max: the cap of `out`. */
void frames_init(struct frames *f, bool client, size_t max_bytes, size_t out_max);
void frames_release(struct frames *f); /* zeroed is fine */

/* Processes received bytes. Those after the end of the connection are ignored. */
void frames_feed(struct frames *f, struct str bytes);
/* Removes and returns the oldest message, which the caller frees; NULL: none. */
struct frame_message *frames_next(struct frames *f);
void frame_message_free(struct frame_message *m); /* NULL is fine */

/* Append a frame to `out`; no effect after a Close. */
void frames_send(struct frames *f, struct str text);
void frames_ping(struct frames *f);
void frames_close(struct frames *f, int code, const char *reason);
