/* Waits for a server that is starting, and starts one with --serve. */
#ifndef ROLLDBG_CMD_OPTIONS_OWN_SERVER_H
#define ROLLDBG_CMD_OPTIONS_OWN_SERVER_H

#include "net/child.h"

/* Zeroed: none was started. */
struct own_server {
	struct io *io; /* borrowed */
	struct child *child;
	struct buf log; /* path of the file with its output */
};

/* Repeats a request, traced in the log, until the URL's server replies with something else than 502, 503
   or 504; other targets than http(s) and ws(s) are not waited for. s: the server that was started, or
   NULL. FAIL_TRANSPORT: not within the time, or the started server has ended. */
MUST_USE int own_server_wait(struct io *io, const char *url, uint64_t wait_ms, struct own_server *s,
                             struct error *err);

/* Starts the command, whose output goes to a new file in the directory, and waits until the URL's port is
   served. FAIL_USAGE: no URL with a port; FAIL_SYSTEM: the port is taken. Set s->io before; call own_server_stop in any case. */
MUST_USE int own_server_start(struct own_server *s, const char *command, char *const *variables,
                              const char *directory, const char *url, uint64_t wait_ms,
                              struct error *err);

/* Ends its process group; removes the file, unless the server had ended by itself. */
void own_server_stop(struct own_server *s);

#endif
