/* Connections suspended while others are served, on one thread that resumes each at its time. */
#ifndef ROLLDBG_SERVE_HOST_SUSPEND_QUEUE_H
#define ROLLDBG_SERVE_HOST_SUSPEND_QUEUE_H

#include "base/clock.h"
#include "base/error.h"

struct MHD_Connection;
struct suspend_queue;

/* One connection's place in the queue; part of whatever belongs to the connection,
 * zeroed. */
struct waiter {
	struct waiter *prev, *next;
	struct MHD_Connection *connection;
	uint64_t until_ns;
	char session[33]; /* of the requested transport */
};

MUST_USE int suspend_queue_start(struct clock clock, struct suspend_queue **out, struct error *err);
/* Called by the connection's handler: suspends it for that long (UINT64_MAX: until resumed),
   after which the handler is called again. False if the server is stopping: nothing was done. */
MUST_USE bool suspend_queue_add(struct suspend_queue *w, struct waiter *waiter,
                                struct MHD_Connection *connection, struct str session,
                                uint64_t wait_ms);
/* Resumes the connections suspended in that session. */
void suspend_queue_end_session(struct suspend_queue *w, struct str session);
/* Resumes all connections, now and from now on. Before MHD_stop_daemon, which requires that
   none is suspended. */
void suspend_queue_close(struct suspend_queue *w);
bool suspend_queue_closed(struct suspend_queue *w);
void suspend_queue_free(struct suspend_queue *w); /* after suspend_queue_close; NULL is fine */

#endif
