/* One direction of an HTTP/1.1 connection, as a proxy sees it: bytes in, parts of messages out.
   Each byte that was fed appears in the `raw` of exactly one part, in order, so that the parts can
   be passed on instead of the bytes. Heads are held until they are complete; everything else is
   returned as it arrives. No sockets. */
#pragma once

#include "base/buf.h"

enum http_part_kind {
	HTTP_HEAD,    /* of a request or a reply */
	HTTP_BODY,    /* part of a body: `bytes`, without chunk headers */
	HTTP_FRAMING, /* chunk headers, trailers, blank lines: raw alone */
	HTTP_END,     /* the message is complete; raw is empty */
	HTTP_BROKEN,  /* not HTTP: raw, and everything that follows, has no meaning */
};

struct http_part {
	enum http_part_kind kind;
	struct str raw, bytes;
	/* Of a head, within raw: */
	struct str method, target; /* of a request */
	int status;                /* of a reply */
	struct str fields;         /* the header lines */
	const char *why;           /* of HTTP_BROKEN: a sentence without full stop */
};

struct http_stream {
	bool replies;
	/* Set it after a reply's head, before the next part: it has no body, whatever the head says
	   (of HEAD). */
	bool bodyless;

	/* private from here on */
	uint8_t state, body; /* body: the state after the head */
	bool interim;        /* the head was a 1xx, after which another one follows */
	uint64_t left;       /* bytes of the body, or of the chunk */
	struct buf held;     /* a head, or the line of a chunk, that is not complete */
	size_t scanned;      /* bytes of held without the end of the head */
	bool release;        /* held was returned */
	struct str rest;     /* input not yet returned; borrowed. Of the other protocol after 101 */
};

void http_stream_init(struct http_stream *s, bool replies);
void http_stream_release(struct http_stream *s);

/* The next piece of input; it must stay valid until http_stream_next() has returned false. */
void http_stream_feed(struct http_stream *s, struct str piece);
/* Returns the next part; its slices are valid until the next call with the same stream. False: more
   input is needed. */
bool http_stream_next(struct http_stream *s, struct http_part *out);
/* The stream has ended. True: *out is one more part: HTTP_END if that completes a message, or
   HTTP_BROKEN with what was held of an incomplete head (why NULL). False: nothing was held. */
bool http_stream_finish(struct http_stream *s, struct http_part *out);
/* Is it between two messages? */
bool http_stream_is_idle(const struct http_stream *s);

/* The next header line of the fields: *name and its trimmed value. Lines without a colon are
   skipped. */
bool http_next_field(struct str fields, size_t *cursor, struct str *name, struct str *value);
/* The value of the first header of that name, in any letter case; absent if there is none. */
struct str http_field(struct str fields, const char *name);
/* Is it this word, in any letter case? */
bool http_is_word(struct str s, const char *word);
/* Is the word an element of the comma-separated value, in any letter case? */
bool http_lists(struct str value, const char *word);
