/* The directory serve/host/: HTTP and WebSocket servers on libmicrohttpd and libwslay: sockets,
   threads, origins. What a request means is decided in gym/, openenv/ and llm/. */

/* The base of our HTTP servers: a listening socket, a thread of libmicrohttpd for each connection,
   limits for them, and one lock: requests are answered one at a time. A request that gives the
   length of its body twice is refused. */
#pragma once

#include "base/buf.h"
#include "base/clock.h"
#include "serve/host/origin.h"

#include <microhttpd.h>
#include <pthread.h>

/* A request whose body was received. */
struct host_request {
	const char *method, *url;
	struct buf body;
	bool too_large; /* the body is over the limit, and empty here */
	size_t received;
};

/* Answers a request, with the lock held. MHD_NO closes the connection. */
typedef enum MHD_Result host_answer_fn(void *ctx, struct MHD_Connection *connection,
                                       const struct host_request *q);

struct host_conf {
	const char *bind; /* an IPv4 address; NULL: 127.0.0.1 */
	uint16_t port;    /* 0: any free one */
	struct clock clock;
	unsigned flags;          /* enum MHD_FLAG, in addition to the common ones */
	size_t connection_bytes; /* memory of each, including the header block */
	size_t body_max;
	host_answer_fn *answer;
	void *ctx; /* of answer */
};

/* Zeroed is fine for host_free. */
struct host {
	struct host_conf conf;
	struct MHD_Daemon *daemon;
	uint16_t port;
	pthread_mutex_t lock; /* held while a request is answered */
	pthread_cond_t changed;
	struct host_waiter *waiters;
	size_t sockets; /* open WebSockets */
	bool closed;
	int stop[2]; /* a pipe whose reading end is readable once the host is closed */
};

/* 0, or -1 with nothing left open. FAIL_USAGE: invalid address; FAIL_SYSTEM: for example, the
   port is in use. */
MUST_USE int host_start(struct host *h, const struct host_conf *c, struct error *err);
/* Ends all waits and WebSockets, and refuses further ones. Call before host_free. */
void host_close(struct host *h);
void host_free(struct host *h);

/* Called while answering: releases the lock for that long (UINT64_MAX: until it is ended), or until
   host_end_session(session). False: the server is stopping. */
MUST_USE bool host_wait(struct host *h, struct str session, uint64_t wait_ms);
void host_end_session(struct host *h, struct str session);

/* Counts a WebSocket that is opened (+1) or was closed (-1). False: the host is closed. */
bool host_add_socket(struct host *h, int change);

/* A header of the request, its name in any case; absent if it was not sent. */
struct str host_header(struct MHD_Connection *connection, const char *name);
void host_add_header(struct MHD_Response *response, const char *name, const char *value);
/* Sends the response and releases it. */
enum MHD_Result host_send(struct MHD_Connection *connection, unsigned status,
                          struct MHD_Response *response);
