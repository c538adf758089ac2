/* One direction of a WebSocket (RFC 6455): bytes in; messages, unmasked and defragmented, and control
   frames out. Lenient, for a reader that is neither of its ends: what does not change the limits of the
   frames is the peers' affair. No extension. No sockets. */
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

struct ws_reader {
	size_t max_message;
	/* Set by one of its ends: frames must have the mask of their side, and lengths the shortest form. */
	bool strict, from_client;

	/* private from here on */
	unsigned char header[14];
	uint8_t have;  /* bytes of the header */
	bool in_frame; /* the header is complete */
	bool masked, fin, control, binary, in_message, broken, returned;
	bool cut; /* the message is longer than the cap, or will be with this frame */
	uint8_t opcode;
	unsigned char mask[4];
	uint64_t left, at;         /* payload: bytes to come, and its offset for the mask */
	struct buf message, frame; /* of the message so far; of a control frame */
	struct str rest;           /* input not yet read */
};

void ws_reader_init(struct ws_reader *c, size_t max_message);
void ws_reader_release(struct ws_reader *c);

/* The next piece of input; it must stay valid until ws_reader_next() has returned false. */
void ws_reader_feed(struct ws_reader *c, struct str piece);
/* Returns the next part; its slices are valid until the next call. False: more input is needed. */
bool ws_reader_next(struct ws_reader *c, struct ws_part *out);
/* Is it between two frames and messages? */
bool ws_reader_is_idle(const struct ws_reader *c);

/* Appends a frame; mask: of a client, NULL: of a server. first: its first byte. */
#define WS_TEXT ((unsigned char)0x81)
void ws_put_frame(struct buf *out, unsigned char first, struct str payload,
                  const unsigned char mask[4]);
