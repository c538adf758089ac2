/* Connections that wait while others are served, on one thread that knows when each has
   waited long enough. */
#ifndef ROLLDBG_SERVE_WAITS_H
#define ROLLDBG_SERVE_WAITS_H

#include "base/clock.h"
#include "base/error.h"

struct MHD_Connection;
struct waits;

/* One connection's place in the queue; part of whatever belongs to the connection,
 * zeroed. */
struct waiter {
	struct waiter *prev, *next;
	struct MHD_Connection *connection;
	uint64_t until_ns;
	char session[33]; /* of the transport it asked for */
};

MUST_USE int waits_start(struct clock clock, struct waits **out, struct error *err);
/* From the connection's own handler: suspends it for that long (UINT64_MAX: for good),
   after which its handler is called again. False when the server is about to end: nothing
   was done. */
MUST_USE bool waits_add(struct waits *w, struct waiter *waiter,
                        struct MHD_Connection *connection, struct str session,
                        uint64_t wait_ms);
/* Whoever waits in that session waits no more. */
void waits_end_session(struct waits *w, struct str session);
/* Nobody waits, and nobody will again. Before MHD_stop_daemon, which wants no suspended
 * connection. */
void waits_close(struct waits *w);
bool waits_closed(struct waits *w);
void waits_free(struct waits *w); /* after waits_close; NULL is fine */

#endif
