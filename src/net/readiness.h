/* Waits for many descriptors at once. On Linux the time of a wait does not grow with their number. */
#pragma once

#include "base/base.h"

#include <poll.h>

struct readiness;

struct ready {
	void *data;
	short events; /* POLLIN, POLLOUT, POLLERR, POLLHUP */
};

/* NULL: errno says why. */
struct readiness *readiness_new(void);
void readiness_free(struct readiness *r);

/* Watches a descriptor for POLLIN and POLLOUT; 0: no longer, which must be said before it is closed. before: the
   events of the call before this one; 0: none. */
void readiness_watch(struct readiness *r, int fd, short before, short events, void *data);

/* Waits for ms milliseconds at most; -1: for ever. Returns how many are ready, or -1 with errno. */
int readiness_wait(struct readiness *r, struct ready *out, int max, int ms);
