/* What all our servers listen with. */
#ifndef ROLLDBG_SERVE_HOST_LISTEN_H
#define ROLLDBG_SERVE_HOST_LISTEN_H

#include "base/error.h"

/* A socket of our own making, so that the reason why it cannot be had is known.
   *port: 0 takes any free one and becomes it. FAIL_USAGE: no IPv4 address; FAIL_SYSTEM:
   the port is taken, .. */
MUST_USE int listen_on(const char *address, uint16_t *port, int *out, struct error *err);

/* What a shell allows by default is too little for a thousand connections. */
void listen_allow_many(void);

#endif
