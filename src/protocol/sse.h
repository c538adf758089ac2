/* The folder protocol/: wire formats that several layers speak, bytes in and events out. Not
   here: sockets (net/), and whatever only one environment protocol does (env/). */

/* Server-sent events (WHATWG HTML, section 9.2.6): bytes in, events out, no sockets.
   Lines end in LF, CRLF or a lone CR, split anywhere; one BOM is skipped; comments are
   counted, not delivered; an event without its empty line at the end of the stream is
   dropped. A priming event (an id, empty data) is delivered with empty data: its reader
   remembers the id and parses nothing. */
#ifndef ROLLDBG_PROTOCOL_SSE_H
#define ROLLDBG_PROTOCOL_SSE_H

#include "base/buf.h"

struct sse {
	uint64_t retry_ms; /* last `retry`, 0 when none came */
	uint64_t comments;
	/* last event id of the stream; that of an unfinished event does not count */
	struct buf id;
	bool too_large; /* an event over the cap was dropped; sticky */

	/* private from here on */
	struct buf line, data, type, next_id;
	uint8_t state;
	bool has_data, delivered;
	struct str rest;     /* fed, not yet consumed: borrowed */
	const char *lf, *cr; /* the next ones in rest; its end when there is none */
};

struct sse_event {
	struct str type; /* "message" by default */
	struct str data;
	struct str id; /* last event id, may be empty */
};

void sse_init(struct sse *s, size_t max_event);
void sse_release(struct sse *s);

/* Hands over a piece; it must stay valid until sse_next() has returned false. */
void sse_feed(struct sse *s, struct str piece);
/* The next whole event; its slices live until the next call. */
bool sse_next(struct sse *s, struct sse_event *out);

#endif
