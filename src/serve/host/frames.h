/* The frames of one WebSocket, the server's side of RFC 6455: bytes in and out, messages
   between. Framing is libwslay's, in frames.c, the one file of this folder that includes
   its header: the server's half needs the same library as the client's in net/, whose
   connections are libcurl's and not ours to accept on. */
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
	struct wslay_event_context *wslay; /* NULL between messages: it is large */
	struct str given;                  /* what wslay has not taken yet */
	/* bytes given that no frame which began accounts for, modulo 2^n */
	size_t owed;
	bool unfinished; /* more fragments of a message are to come */
	bool closing;    /* a Close was sent: the context keeps that state */
	struct buf partial;
	struct frame_message *first, *last;
	size_t count; /* of messages not taken */
	uint8_t opcode;
	bool too_large;
	uint32_t pings; /* sent; the payload of the last one */
	/* Read by whoever owns the connection. */
	struct buf out;   /* to be sent */
	bool ponged;      /* the last ping was answered */
	bool peer_closed; /* with a Close frame, which is answered in `out` */
	bool broken;      /* by the peer: the matching Close is in `out` */
};

void frames_init(struct frames *f);
void frames_release(struct frames *f); /* zeroed is fine */

/* Takes bytes that came. Ones behind the end of the connection go nowhere. */
void frames_feed(struct frames *f, struct str bytes);
/* The oldest message, which is then the caller's to free; NULL: none. */
struct frame_message *frames_take(struct frames *f);
void frame_message_free(struct frame_message *m); /* NULL is fine */

/* Appended to `out`; after a Close nothing more is. */
void frames_send(struct frames *f, struct str text);
void frames_ping(struct frames *f);
void frames_close(struct frames *f, int code, const char *reason);

/* Nothing will be said or heard for a while: gives memory back if nothing is under way.
 */
void frames_rest(struct frames *f);

#endif
