/* The WebSockets of an OpenEnv server. */
#ifndef ROLLDBG_SERVE_HOST_SOCKETS_H
#define ROLLDBG_SERVE_HOST_SOCKETS_H

#include "serve/host/host.h"
#include "serve/openenv/openenv.h"

/* Serves an upgraded connection on the thread of the caller, until it is closed or the host is. early:
   bytes received after the upgrade request; session_id: from the URL. */
void socket_serve(struct host *h, struct openenv *o, int fd, struct str early,
                  struct str session_id);

#endif
