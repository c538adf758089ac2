/* Connections suspended for a time or until resumed, on one thread, so that they do not block
   others. */
#ifndef ROLLDBG_SERVE_HOST_SUSPEND_QUEUE_H
#define ROLLDBG_SERVE_HOST_SUSPEND_QUEUE_H

#include "base/clock.h"
#include "base/error.h"

struct MHD_Connection;
struct suspend_queue;

/* A queue entry. Embedded in the connection's own struct; zeroed initially. */
struct waiter {
	struct waiter *prev, *next;
	struct MHD_Connection *connection;
	uint64_t until_ns;
	char session[33]; /* id of the request's session */
};

MUST_USE int suspend_queue_start(struct clock clock, struct suspend_queue **out, struct error *err);
/* Called by the connection's handler: suspends it for that long (UINT64_MAX: until resumed),
   after which the handler is called again. False if the server is stopping: nothing was done. */
MUST_USE bool suspend_queue_add(struct suspend_queue *w, struct waiter *waiter,
                                struct MHD_Connection *connection, struct str session,
                                uint64_t wait_ms);
/* Resumes the connections suspended in that session. */
void suspend_queue_end_session(struct suspend_queue *w, struct str session);
/* Resumes all connections and refuses to suspend more. Call before MHD_stop_daemon, which
   requires that none is suspended. */
void suspend_queue_close(struct suspend_queue *w);
bool suspend_queue_closed(struct suspend_queue *w);
void suspend_queue_free(struct suspend_queue *w); /* after suspend_queue_close; NULL is fine */

#endif
