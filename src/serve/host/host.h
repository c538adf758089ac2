/* The directory serve/host/: HTTP and WebSocket servers on libmicrohttpd and libwslay: sockets,
   threads, origins. What a request means is decided in gym/, openenv/ and llm/. */

/* The base of our HTTP servers: a listening socket, one epoll thread of libmicrohttpd, limits for
   connections, and the queue of suspended ones. A request that gives the length of its body twice
   is refused. */
#ifndef ROLLDBG_SERVE_HOST_HOST_H
#define ROLLDBG_SERVE_HOST_HOST_H

#include "serve/host/suspend_queue.h"

#include <microhttpd.h>

/* Zeroed is fine for host_close and host_free. */
struct host {
	struct MHD_Daemon *daemon;
	struct suspend_queue *waits;
	uint16_t port;
	MHD_AccessHandlerCallback handle;
	void *ctx; /* of handle */
};

/* Borrowed during the call, except ctx. */
struct host_conf {
	const char *bind; /* an IPv4 address; NULL: 127.0.0.1 */
	uint16_t port;    /* 0: any free one */
	struct clock clock;
	/* enum MHD_FLAG: flags in addition to the common ones */
	unsigned flags;
	size_t connection_bytes;          /* memory of each, including the header block */
	MHD_AccessHandlerCallback handle; /* may use h->waits */
	MHD_RequestCompletedCallback forget;
	void *ctx; /* of handle */
};

/* 0, or -1 with nothing left open. FAIL_USAGE: invalid address; FAIL_SYSTEM: for example, the
   port is in use. */
MUST_USE int host_start(struct host *h, const struct host_conf *c, struct error *err);
/* Resumes all waiting connections, and refuses to suspend more. Call before host_free. */
void host_close(struct host *h);
void host_free(struct host *h);

/* A header of the request, its name in any case; absent if it was not sent. */
struct str host_header(struct MHD_Connection *connection, const char *name);
void host_add_header(struct MHD_Response *response, const char *name, const char *value);

#endif
