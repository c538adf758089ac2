/* Listening sockets. */
#pragma once

#include "base/error.h"

/* Opens a listening socket. (Not left to libmicrohttpd, which does not report why it failed.)
   *port: 0 selects any free port and is replaced by it. FAIL_USAGE: not an IPv4 address;
   FAIL_SYSTEM: for example, the port is in use. */
MUST_USE int listen_on(const char *address, uint16_t *port, int *out, struct error *err);

/* Raises the limit on open files: the usual default is too low for a thousand connections. */
void listen_allow_many(void);
