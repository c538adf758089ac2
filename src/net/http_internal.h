/* The inside of one HTTP exchange, for http.c, http_reply.c and http_error.c. */
#ifndef ROLLDBG_NET_HTTP_INTERNAL_H
#define ROLLDBG_NET_HTTP_INTERNAL_H

#include "net/http.h"
#include "net/io_internal.h"
#include "net/target.h"

struct http_exchange {
	struct io_transfer transfer; /* first: CURLOPT_PRIVATE points here */
	struct http_exchange *next;  /* in io->idle or io->leaving */
	struct io *io;
	const struct http_request *request;
	uint64_t deadline_ns;

	/* What the handle is set to: setting an option that stands already is work for
	 * nothing. */
	struct target target;
	char method[16];
	bool has_body, once, fresh, closing, trusting;
	struct buf header_lines; /* LF after each */
	struct curl_slist *headers;

	/* Counted just before bytes leave us. */
	unsigned sends, repeats, hops;
	bool repeat_refused;

	struct buf head; /* header lines of the final reply, CRLF kept */
	int status;
	bool headers_done;
	bool headers_seen; /* http_wait_headers has reported them */
	bool redirected;   /* and the reply's body is skipped */
	bool circled;      /* redirected once too often */
	bool leaving;

	struct buf in, out; /* filled by libcurl; handed to the reader */
	size_t received;
	bool too_large, paused;
	char why[CURL_ERROR_SIZE];
};

/* Turns the end of a failed transfer into a sentence; returns -1. */
int http_explain(struct http_exchange *x, struct error *err);
int http_explain_timeout(struct http_exchange *x, struct error *err);

#endif
