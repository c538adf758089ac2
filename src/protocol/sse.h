/* The directory protocol/: wire formats used by several layers, without I/O. Sockets are in net/,
   protocols of environments in env/. */

/* Server-sent events (WHATWG HTML, section 9.2.6): bytes in, events out. Lines end in LF, CRLF
   or a lone CR, split anywhere; one BOM is skipped; comments are counted, not returned; an
   incomplete event at the end of the stream is dropped. A priming event (an id, empty data) is
   returned with empty data: the caller stores the id and parses nothing. */
#pragma once

#include "base/buf.h"

struct sse {
	uint64_t retry_ms; /* last `retry`; 0: none */
	uint64_t comments;
	/* last event id of the stream; not that of an incomplete event */
	struct buf id;
	bool too_large; /* an event over the cap was dropped; sticky */

	/* private from here on */
	struct buf line, data, type, next_id;
	uint8_t state;
	bool has_data, delivered;
	struct str rest;     /* input not yet parsed; borrowed */
	const char *lf, *cr; /* the next ones in rest, or its end */
};

struct sse_event {
	struct str type; /* "message" by default */
	struct str data;
	struct str id; /* last event id, may be empty */
};

void sse_init(struct sse *s, size_t max_event);
void sse_restart(struct sse *s); /* for another stream; keeps the memory */
void sse_release(struct sse *s);

/* Sets the next piece of input; it must stay valid until sse_next() has returned false. */
void sse_feed(struct sse *s, struct str piece);
/* Returns the next complete event; its slices are valid until the next call. */
bool sse_next(struct sse *s, struct sse_event *out);
