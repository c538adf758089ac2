/* The fields of struct io, for the files of this directory. */
#pragma once

#include "net/io.h"

#include <curl/curl.h>
#include <poll.h>

/* The first member of every struct that owns an easy handle; CURLOPT_PRIVATE points to it. io
   fills it in when the transfer has ended, successfully or not. */
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

struct io_idle_callback {
	io_idle_fn *fn;
	void *arg;
};

struct io {
	struct clock clock;
	CURLM *multi; /* NULL before the first transfer and after io_rest */
	const char *user_agent, *ca_file;
	bool insecure;
	int stop_fd;       /* -1: ignored */
	int given_stop_fd; /* its initial value */
	bool stop_seen;
	uint64_t longest_ms; /* cap of one wait */
	uint64_t limit_ns;   /* deadline of all waits: io_limit */
	unsigned transfers;  /* added, and neither removed nor kept */
	unsigned kept;
	/* What is polled besides libcurl's sockets: the stop signal first, if there is one. */
	struct curl_waitfd *waits;
	struct pollfd *polls;
	struct io_watch *watches;
	size_t watch_count, wait_count;
	struct io_idle_callback *idle_callbacks;
	size_t idle_count;
	bool in_idle;
	/* Owned by http.c: handles kept for their settings, and replies being drained. */
	struct http_exchange *idle, *draining;
};

/* Adds t->easy and runs it as far as possible without waiting. */
MUST_USE int io_start(struct io *io, struct io_transfer *t, struct error *err);
void io_drop(struct io *io, struct io_transfer *t);
/* The transfer succeeded, and its owner keeps using the connection (CURLOPT_CONNECT_ONLY): there
   is nothing left to wait for; io_drop closes it. */
void io_keep_connection(struct io *io, struct io_transfer *t);

/* Sets err to the reason why a transfer ended before anything could be sent, and returns -1;
   returns 0 if something was sent. */
int io_explain_connecting(const struct io_transfer *t, const char *place, const char *why,
                          struct error *err);

/* One round: waits until something happens, at most until deadline_ns (UINT64_MAX: none; in the
   past: does not wait), then serves it. Returns 0 also if nothing happened: the caller checks
   what it waits for. */
MUST_USE int io_turn(struct io *io, uint64_t deadline_ns, struct error *err);

void http_forget(struct io *io); /* frees `idle` and `draining` */
