/* The listening socket, thread and wait queue of our HTTP servers: see host.h. */
#include "serve/host/host.h"

#include "base/log.h"
#include "serve/host/listen.h"

#include <unistd.h>

int host_start(struct host *h, const struct host_conf *c, struct error *err)
{
	int fd = -1;

	if (mhd_library_load(err)) {
		return -1;
	}
	h->port = c->port;
	listen_allow_many();
	if (listen_on(c->bind ? c->bind : "127.0.0.1", &h->port, &fd, err)) {
		return -1;
	}
	if (suspend_queue_start(c->clock, &h->waits, err)) {
		close(fd);
		return -1;
	}
	h->daemon = mhd.start_daemon(
		MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME | c->flags, h->port, NULL,
		NULL, c->handle, c->ctx, MHD_OPTION_LISTEN_SOCKET, (MHD_socket)fd,
		MHD_OPTION_NOTIFY_COMPLETED, c->forget, NULL, MHD_OPTION_ARRAY, c->options,
		MHD_OPTION_END);
	if (!h->daemon) {
		close(fd);
		host_close(h);
		host_free(h);
		return error_set(err, FAIL_SYSTEM, "cannot start a server on port %u", h->port);
	}
	return 0;
}

void host_close(struct host *h)
{
	if (h->waits) {
		suspend_queue_close(h->waits);
	}
}

void host_free(struct host *h)
{
	if (h->daemon) {
		mhd.stop_daemon(h->daemon);
	}
	suspend_queue_free(h->waits);
	h->daemon = NULL;
	h->waits = NULL;
}

struct str host_header(struct MHD_Connection *connection, const char *name)
{
	return str_from(mhd.lookup_connection_value(connection, MHD_HEADER_KIND, name));
}

void host_add_header(struct MHD_Response *response, const char *name, const char *value)
{
	if (mhd.add_response_header(response, name, value) != MHD_YES) {
		log_warn("serve: the header %s could not be set", name);
	}
}
