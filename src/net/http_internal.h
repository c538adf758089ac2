/* The fields of an HTTP exchange, for http.c and http_error.c. */
#pragma once

#include "net/http.h"
#include "net/io_internal.h"
#include "net/target.h"

struct http_exchange {
	struct io_transfer transfer; /* must be first: CURLOPT_PRIVATE points here */
	struct http_exchange *next;  /* in io->idle or io->draining */
	struct io *io;
	const struct http_request *request;
	uint64_t deadline_ns;

	struct target target;
	struct curl_slist *headers;
	struct buf options; /* what the handle is set to: see set_request() */

	/* Counted just before bytes are sent. */
	unsigned sends, repeats, hops;
	bool repeat_refused;

	struct buf head; /* header lines of the final reply, with their CRLFs */
	int status;
	bool headers_done;
	bool headers_seen; /* http_wait_headers has returned */
	bool redirected;   /* a redirect is being followed: the reply's body is skipped */
	bool circled;      /* too many redirects */
	bool encoded;      /* a success is compressed, which no request of ours accepts */
	bool draining;

	struct buf in, out; /* filled by libcurl, returned by http_read */
	size_t received;
	bool too_large, paused;
	char why[CURL_ERROR_SIZE];
};

/* Sets err to a sentence about a failed transfer; returns -1. */
int http_explain(struct http_exchange *x, struct error *err);
int http_explain_encoding(struct http_exchange *x, struct error *err);
int http_explain_timeout(struct http_exchange *x, struct error *err);
