/* The inside of struct io, shared by the files of this folder only. */
#ifndef ROLLDBG_NET_IO_INTERNAL_H
#define ROLLDBG_NET_IO_INTERNAL_H

#include "net/io.h"
#include <curl/curl.h>
#include <poll.h>

/* First member of whatever owns an easy handle; CURLOPT_PRIVATE points to it. io fills it
   in when the transfer has ended, well or badly. */
struct io_transfer {
	CURL *easy;
	bool done;
	bool kept; /* io_keep_connection */
	CURLcode result;
};

struct io_watch {
	int fd;
	short want;
	io_fd_fn *fn;
	void *arg;
};

struct io_tender {
	io_idle_fn *fn;
	void *arg;
};

struct io {
	struct clock clock;
	CURLM *multi; /* NULL at rest */
	const char *user_agent, *ca_file;
	bool insecure;
	int stop_fd;       /* -1: not looked at */
	int given_stop_fd; /* what it was in the beginning */
	bool stop_seen;
	uint64_t longest_ms; /* of a wait */
	uint64_t limit_ns;   /* of all waits: io_limit */
	unsigned transfers;  /* added, and neither removed nor kept */
	unsigned kept;
	/* What is polled beside libcurl's sockets: the stop signal first, when there is
	 * one. */
	struct curl_waitfd *waits;
	struct pollfd *polls;
	struct io_watch *watches;
	size_t watch_count, wait_count;
	struct io_tender *tenders;
	size_t tender_count;
	bool tending;
	/* Owned by http.c: handles kept for their settings, and replies being read away.
	 */
	struct http_exchange *idle, *leaving;
};

/* Adds t->easy and lets it go as far as it can without waiting. */
MUST_USE int io_start(struct io *io, struct io_transfer *t, struct error *err);
void io_drop(struct io *io, struct io_transfer *t);
/* It succeeded, and its owner keeps using the connection (CURLOPT_CONNECT_ONLY): there is
   nothing left to wait for, and io_drop closes it. */
void io_keep_connection(struct io *io, struct io_transfer *t);

/* Why a transfer ended before anything could be sent, as a sentence: -1; 0 when that is
   not what happened. */
int io_explain_connecting(const struct io_transfer *t, const char *place, const char *why,
                          struct error *err);

/* One round: waits until something happens, at most until deadline_ns (UINT64_MAX: none;
   past: does not wait), then serves it. 0 also when nothing came: the caller looks at
   what it waits for. */
MUST_USE int io_turn(struct io *io, uint64_t deadline_ns, struct error *err);

/* now + timeout_ms, without overflow. */
uint64_t io_deadline_ns(const struct io *io, uint64_t timeout_ms);

void http_forget(struct io *io); /* frees `idle` and `leaving` */

#endif
