/* One HTTP exchange, read piece by piece: a server may put its own request into a POST's event
   stream and wait for our reply, sent as a second exchange on the same io, before it sends the
   result. For every exchange: no redirect is followed unless requested, and then only 307/308 on
   the same origin with method and body kept; http and https only; loopback never uses a proxy;
   nothing is sent twice unless allowed (libcurl repeats a request if a reused connection dies
   before the first reply byte; it is stopped just before the second sending). Handles and
   connections are kept by the io and reused. */
#ifndef ROLLDBG_NET_HTTP_H
#define ROLLDBG_NET_HTTP_H

#include "base/buf.h"
#include "net/io.h"

/* Which certificates the peer may show. */
enum http_trust {
	TRUST_AS_IO, /* as the io is set */
	TRUST_VALID,
	TRUST_ANY,
};

struct http_request {
	const char *method; /* "GET", "POST", "DELETE" */
	const char *url;
	const char *const *headers; /* "Name: value" ("Name;" for an empty value) */
	size_t header_count;
	struct str body;     /* absent: none */
	uint64_t timeout_ms; /* whole exchange, from begin; 0: none */
	size_t max_bytes;    /* body cap; 0: BUF_MAX_MESSAGE */
	/* safe to send again on a new connection: done at most once, and counted */
	bool may_repeat;
	bool follow;           /* 307 / 308 on the same origin */
	bool fresh_connection; /* do not reuse one */
	enum http_trust trust;
};

struct http_exchange;

/* Sends what it can without waiting. Borrows the request until http_end, its headers only for
   this call. -1, with nothing sent, only for local failures (an invalid URL or header:
   FAIL_USAGE) or an interrupt (FAIL_INTERRUPTED). */
MUST_USE int http_begin(struct io *io, const struct http_request *q, struct http_exchange **out,
                        struct error *err);

/* Waits for the final status line and all headers. -1: FAIL_TRANSPORT (refused, DNS, TLS,
   closed; the message names host and port, what was tried and the result), FAIL_PROTOCOL (not
   HTTP, endless headers, redirect loop), FAIL_TIMEOUT, FAIL_INTERRUPTED. */
MUST_USE int http_wait_headers(struct http_exchange *x, struct error *err);

/* 1: a piece of the body, valid until the next call on x. 0: its end. -1: as above; a body over
   max_bytes is FAIL_PROTOCOL. Data received before a failure is delivered first, except before a
   timeout. Waits for the headers if needed. */
MUST_USE int http_read(struct http_exchange *x, struct str *piece, struct error *err);

/* Would the next http_wait_headers or http_read return at once, because something came,
   the exchange has ended, or its time is over? */
bool http_ready(const struct http_exchange *x);

/* Waits until one of several exchanges of the io is ready, or for timeout_ms (UINT64_MAX:
   no limit). 0 in both cases: the caller asks which. -1: FAIL_INTERRUPTED, FAIL_SYSTEM.
 */
MUST_USE int http_wait_any(struct io *io, struct http_exchange *const *xs, size_t count,
                           uint64_t timeout_ms, struct error *err);

/* The whole rest of the body, appended to out (whose cap counts). */
MUST_USE int http_read_all(struct http_exchange *x, struct buf *out, struct error *err);

/* Known once the headers are there; 0 / absent before. Header names are case-insensitive,
   the last of several wins. Borrowed from x. */
int http_status(const struct http_exchange *x);
struct str http_header(const struct http_exchange *x, const char *name);
struct str
http_media_type(const struct http_exchange *x); /* Content-Type essence, as sent: "text/html" */
/* How long the peer asks us to wait (retry-after-ms, or Retry-After in seconds or as a
   date, RFC 9110 section 10.2.3); 0: it does not say. Once the body is read. */
uint64_t http_retry_after_ms(const struct http_exchange *x);
bool http_media_is(const struct http_exchange *x, const char *type); /* in any case */
const char *http_url(const struct http_exchange *x);                 /* after redirects */
unsigned http_repeats(const struct http_exchange *x); /* times it was sent again (may_repeat) */
/* Did any byte of the request reach a connection? When not, the peer cannot have acted on
 * it. */
bool http_was_sent(const struct http_exchange *x);

/* Is it on this host? False for what is no URL. */
bool http_is_loopback(const char *url);

/* What `reference` (relative or not) means beside url, in out; false where that is on
   another origin, or no URL. */
bool http_resolve(const char *url, struct str reference, struct buf *out);

void http_end(struct http_exchange *x); /* breaks off what still runs; NULL is fine */

/* Instead of http_end, for a body of which the caller has seen enough (the message it
   waited for in an event stream): what little follows is read away while other calls
   wait, for at most 2 s and 64 KiB, so that the connection can serve the next request. */
void http_leave(struct http_exchange *x);

#endif
