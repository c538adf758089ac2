/* One HTTP exchange, read piece by piece: a server may put its own request into a POST's event
   stream and wait for our reply, sent as a second exchange on the same io, before it sends the
   result. For every exchange: no redirect is followed unless requested, and then only 307/308 on
   the same origin with method and body kept; http and https only; loopback never uses a proxy;
   nothing is sent twice unless allowed (libcurl repeats a request if a reused connection dies
   before the first reply byte; it is stopped just before the second sending). Handles and
   connections are kept by the io and reused. */
#pragma once

#include "base/buf.h"
#include "net/io.h"

/* Which certificates are accepted. */
enum http_trust {
	TRUST_AS_IO, /* as configured for the io */
	TRUST_VALID,
	TRUST_ANY,
};

struct http_request {
	const char *method; /* "GET", "POST", "DELETE" */
	const char *url;
	const char *const *headers; /* "Name: value" ("Name;" for an empty value) */
	size_t header_count;
	struct str body;     /* absent: none */
	uint64_t timeout_ms; /* for the whole exchange, from http_begin; 0: none */
	size_t max_bytes;    /* maximum size of the body; 0: BUF_MAX_MESSAGE */
	/* may be sent again on a new connection: at most once, and counted */
	bool may_repeat;
	bool follow;           /* follow 307 and 308 on the same origin */
	bool fresh_connection; /* do not reuse the connection */
	enum http_trust trust;
};

struct http_exchange;

/* Sends what it can without waiting. Borrows the request until http_end, its headers only for
   this call. Returns -1, with nothing sent, only on local failures (FAIL_USAGE: an invalid URL
   or header) or an interrupt (FAIL_INTERRUPTED). */
MUST_USE int http_begin(struct io *io, const struct http_request *q, struct http_exchange **out,
                        struct error *err);

/* Waits for the final status line and all headers. Returns -1 on FAIL_TRANSPORT (refused, DNS,
   TLS, closed; the message names host and port, what was tried and the result), FAIL_PROTOCOL
   (not HTTP, endless headers, redirect loop), FAIL_TIMEOUT, FAIL_INTERRUPTED. */
MUST_USE int http_wait_headers(struct http_exchange *x, struct error *err);

/* Returns 1 and a piece of the body, valid until the next call on x; 0 at its end; -1 as above,
   and FAIL_PROTOCOL for a body over max_bytes. Data received before a failure is returned first,
   except before a timeout. Waits for the headers if needed. */
MUST_USE int http_read(struct http_exchange *x, struct str *piece, struct error *err);

/* Would the next http_wait_headers or http_read return at once, because data arrived, the
   exchange ended, or its deadline passed? */
bool http_ready(const struct http_exchange *x);

/* Waits until one of several exchanges of the io is ready, or for timeout_ms (UINT64_MAX: no
   limit). Returns 0 in both cases: the caller checks which. -1: FAIL_INTERRUPTED, FAIL_SYSTEM. */
MUST_USE int http_wait_any(struct io *io, struct http_exchange *const *xs, size_t count,
                           uint64_t timeout_ms, struct error *err);

/* Appends the rest of the body to out, up to the cap of out. */
MUST_USE int http_read_all(struct http_exchange *x, struct buf *out, struct error *err);

/* Known once the headers have arrived; 0 or absent before. Header names are case-insensitive;
   the last of several counts. Borrowed from x. */
int http_status(const struct http_exchange *x);
struct str http_header(const struct http_exchange *x, const char *name);
struct str
http_media_type(const struct http_exchange *x); /* Content-Type essence, as sent: "text/html" */
/* How long the peer asks us to wait (retry-after-ms, or Retry-After in seconds or as a date, RFC
   9110 section 10.2.3); 0 if it does not say. Known once the body has been read. */
uint64_t http_retry_after_ms(const struct http_exchange *x);
bool http_media_is(const struct http_exchange *x, const char *type); /* ignoring letter case */
const char *http_url(const struct http_exchange *x);                 /* the URL after redirects */
unsigned http_repeats(const struct http_exchange *x); /* how often it was sent again (may_repeat) */
/* Was any byte of the request handed to a connection? If not, the peer cannot have acted on it. */
bool http_was_sent(const struct http_exchange *x);

/* Does the URL name this host? False for an invalid URL. */
bool http_is_loopback(const char *url);

/* Resolves `reference` (relative or absolute) against url into out; false if it is an invalid
   URL or on another origin. */
bool http_resolve(const char *url, struct str reference, struct buf *out);

void http_end(struct http_exchange *x); /* aborts a running exchange; NULL is fine */

/* Instead of http_end, if the caller needs no more of the body (it has the message it waited for
   in an event stream): the rest is read while other calls wait, for at most 2 s and 64 KiB, so
   that the connection can be reused. */
void http_drain(struct http_exchange *x);
