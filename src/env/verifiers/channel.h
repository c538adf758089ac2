/* The directory env/verifiers/: tool servers of verifiers v1: their process and state channel here; their tools are
   called by env/mcp. */

/* The state channel of a tool server: HTTP on loopback, where the server gets the state before a call and puts it
   after one that has changed it. It is answered while anything on the same io waits: the server asks within
   a call. */
#pragma once

#include "base/buf.h"
#include "net/io.h"

#define CHANNEL_CONNECTIONS 16 /* a server needs one for each concurrent call */

struct channel_connection;

struct channel {
	struct io *io;
	const char *secret; /* borrowed: the bearer token */
	int listener;       /* -1: none */
	uint16_t port;
	struct channel_connection *connections[CHANNEL_CONNECTIONS]; /* NULL: free */
	struct buf task;                                             /* the body of GET /task */
	struct buf state; /* what was put last, or the initial state */
	bool is_json;     /* the state is: NaN, which verifiers allows, is not */
	uint64_t gets, puts;
};

/* Listens. Set task and state before the first wait. */
MUST_USE int channel_open(struct channel *c, struct io *io, const char *secret, struct error *err);
void channel_set_state(struct channel *c, struct str state);
void channel_close(struct channel *c); /* a zeroed channel is fine */
