/* The WebSockets of an OpenEnv server: one thread with one epoll, to which HTTP passes upgraded
   connections. A slow step does not delay the others. */
#ifndef ROLLDBG_SERVE_HOST_SOCKETS_H
#define ROLLDBG_SERVE_HOST_SOCKETS_H

#include "serve/openenv/openenv.h"

struct MHD_UpgradeResponseHandle;
struct sockets;

/* o must outlive it. */
MUST_USE int sockets_start(struct openenv *o, struct sockets **out, struct error *err);
/* Called by the HTTP thread. early: bytes received after the upgrade request; session_id: from
   the URL. */
void sockets_adopt(struct sockets *s, struct MHD_UpgradeResponseHandle *handle, int fd,
                   struct str early, struct str session_id);
/* Closes all connections (Close 1012), also those adopted later. Call before MHD_stop_daemon,
   which requires that every upgraded connection was closed. */
void sockets_close(struct sockets *s);
void sockets_free(struct sockets *s); /* after sockets_close; NULL is fine */

#endif
