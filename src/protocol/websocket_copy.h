/* One direction of a WebSocket (RFC 6455), read from a copy of its bytes by somebody who is neither
   of its ends: bytes in; messages, unmasked and defragmented, and Close frames out. Lenient: what
   does not change the limits of the frames is the peers' affair. No extension. No sockets. */
#pragma once

#include "base/buf.h"

enum ws_part_kind {
	WS_MESSAGE,
	WS_CLOSE,  /* code (1005: none given) and reason in `bytes` */
	WS_OTHER,  /* a ping or a pong */
	WS_BROKEN, /* these are no frames, or compressed ones: nothing more is returned */
};

struct ws_part {
	enum ws_part_kind kind;
	struct str bytes;
	bool binary, cut; /* of a message; cut: it is longer than the cap */
	int code;
	const char *why; /* of WS_BROKEN */
	/* of a control frame: its first byte, and all of its payload */
	unsigned char first;
	struct str payload;
};

struct ws_copy {
	size_t max_message;

	/* private from here on */
	unsigned char header[14];
	uint8_t have;  /* bytes of the header */
	bool in_frame; /* the header is complete */
	bool masked, fin, control, binary, in_message, cut, broken, returned;
	uint8_t opcode;
	unsigned char mask[4];
	uint64_t left, at;         /* payload: bytes to come, and its offset for the mask */
	struct buf message, frame; /* of the message so far; of a control frame */
	struct str rest;           /* input not yet read */
};

void ws_copy_init(struct ws_copy *c, size_t max_message);
void ws_copy_release(struct ws_copy *c);

/* The next piece of input; it must stay valid until ws_copy_next() has returned false. */
void ws_copy_feed(struct ws_copy *c, struct str piece);
/* Returns the next part; its slices are valid until the next call. False: more input is needed. */
bool ws_copy_next(struct ws_copy *c, struct ws_part *out);
/* Is it between two frames and messages? */
bool ws_copy_is_idle(const struct ws_copy *c);

/* Appends a frame; mask: of a client, NULL: of a server. first: its first byte. */
#define WS_TEXT ((unsigned char)0x81)
void ws_put_frame(struct buf *out, unsigned char first, struct str payload,
                  const unsigned char mask[4]);
