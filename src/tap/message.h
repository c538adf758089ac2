/* The directory tap/: a recording proxy. relay.c moves bytes, flow.c reads a copy of them, a
   decoder (one file per protocol, a row of decoders.def) gives them their meaning, episode.c turns
   that into a recording. Bytes never wait for any of these. */

/* What a decoder is told: the messages that two peers exchange, in the order in which they were
   relayed. All calls come from one thread and must not block. A decoder cannot change a byte. */
#pragma once

#include "protocol/sse.h"

struct tap_recording; /* tap/episode.h */

/* Longer bodies and messages are passed to decoders cut to this many bytes. */
#define TAP_BODY_MAX  ((size_t)64 << 20)
#define TAP_EVENT_MAX ((size_t)24 << 20) /* longer events are not passed to them */

enum tap_side { TAP_CLIENT, TAP_SERVER, TAP_NOBODY };

/* A connection of a client; of a stdio server, the pair of its streams. It exists until the last
   of its exchanges has ended. */
struct tap_connection {
	uint64_t id;          /* from 1, in the order of their opening; never reused */
	uint16_t client_port; /* 0: no TCP */
	void *asker; /* the connection is one of ours, for a question: see tap_ask(); else NULL */
};

/* The head of a request or a reply, as sent by the peer. */
struct tap_head {
	struct str method, target; /* of a request: "GET", "/ws?session_id=1" */
	int status;                /* of a reply; 0: none yet */
	struct str fields;         /* the header lines */
};

/* The value of the first header of that name, in any letter case, without surrounding blanks;
   absent if there is none. */
struct str tap_header(const struct tap_head *h, const char *name);
/* The path of a request's target, without the query. */
struct str tap_path(const struct tap_head *request);
/* Appends the header lines of a client's request to one of our own, which so reaches the same server and session:
   all but those about its own message and connection, and `but` (NULL: none). */
void tap_put_fields(const struct tap_head *request, const char *but, struct buf *out);
/* The value of a member of the target's query, still escaped; absent if there is none. */
struct str tap_query(const struct tap_head *request, const char *name);

/* A body, without its transfer encoding, or a message. */
struct tap_bytes {
	struct str bytes;
	bool cut;     /* there were more than TAP_BODY_MAX */
	bool unended; /* the connection ended within it */
	bool encoded; /* it has a Content-Encoding, and bytes are as sent */
	bool binary;  /* of a WebSocket message */
};

/* How an exchange ended. */
struct tap_ending {
	/* The side that closed first: sent a Close frame, ended its stream, or broke the
	   connection. TAP_NOBODY: the reply is complete. */
	enum tap_side first;
	bool lost;        /* that connection was reset, or ended without the Close frame */
	bool unreachable; /* the server accepted no connection; the client got a 502 */
	bool stopped;     /* by rolldbg: Ctrl-C */
	int code;         /* of the first Close frame; 1005: it had none; 0: no frame */
	struct str why;   /* its reason, or a sentence about the connection */
};

/* One request and its reply; after a reply 101, the WebSocket. Of a stdio server: all lines of its
   streams, with an empty method. Slices are valid until closed() returns, but for the reply's,
   which a final reply after a 1xx replaces. */
struct tap_exchange {
	uint64_t id; /* from 1, in the order of the requests */
	const struct tap_connection *connection;
	struct tap_head request, reply;
	struct tap_bytes request_body, reply_body;
	const struct sse
		*stream; /* the reply is events, and its decoder is told of them; else NULL */
	uint64_t asked_ns, replied_ns; /* monotonic: when the request was complete, and the reply */
	void *own;                     /* of the decoder */
};

/* A decoder. Members may be NULL, but for owns and start. `d` is what start() returned. */
struct tap_decoder {
	bool of_model; /* of requests to a model, and of no others */
	/* Is this request part of the protocol? Asked in the order of decoders.def once its head is
	   complete; the first that says yes gets the exchange. Others are relayed and counted. */
	bool (*owns)(void *d, const struct tap_head *request);
	/* Before the first exchange. r is valid until stop(). */
	void *(*start)(struct tap_recording *r);
	void (*stop)(void *d);
	/* The request is complete; or, of a request for a WebSocket and of a stdio server, begun. */
	void (*request)(void *d, struct tap_exchange *x);
	/* The head of the final reply has arrived: x->reply. With status 101 messages follow. */
	void (*head)(void *d, struct tap_exchange *x);
	/* An event of the reply, as it arrives. */
	void (*event)(void *d, struct tap_exchange *x, const struct sse_event *e);
	/* The reply is complete: x->reply_body. Not called after 101. Event streams are kept in
	   x->reply_body only if event is NULL. */
	void (*reply)(void *d, struct tap_exchange *x);
	/* A message of the WebSocket (control frames are not), or a line of a stdio server without
	   its line feed. */
	void (*message)(void *d, struct tap_exchange *x, enum tap_side from,
	                const struct tap_bytes *m);
	/* The last call about x, in any case. */
	void (*closed)(void *d, struct tap_exchange *x, const struct tap_ending *e);
	/* A connection has ended, after all its exchanges: for protocols in which it is the
	   session. Every decoder is told, whether or not an exchange on it was its own. */
	void (*left)(void *d, const struct tap_connection *c, const struct tap_ending *e);
};

extern const struct tap_decoder *const tap_decoders[];
extern const size_t tap_decoders_count;
