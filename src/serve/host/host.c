/* The listening socket, thread and wait queue of our HTTP servers: see host.h. */
#include "serve/host/host.h"

#include "base/log.h"
#include "net/listen.h"

#include <strings.h>
#include <unistd.h>

#define CONNECTIONS_MAX 4096u
#define FIRST_REQUEST_S 10u  /* silence before a connection's first request */
#define BETWEEN_S       120u /* and after that: as configured for uvicorn */

static enum MHD_Result count_length(void *count, enum MHD_ValueKind kind, const char *name,
                                    const char *value)
{
	(void)kind, (void)value;
	*(int *)count += strcasecmp(name, MHD_HTTP_HEADER_CONTENT_LENGTH) == 0 ||
	                 strcasecmp(name, MHD_HTTP_HEADER_TRANSFER_ENCODING) == 0;
	return MHD_YES;
}

/* A proxy before us may believe the other length, and take the rest for another request. */
static bool has_two_lengths(struct MHD_Connection *connection)
{
	int count = 0;

	MHD_get_connection_values(connection, MHD_HEADER_KIND, count_length, &count);
	return count > 1;
}

static enum MHD_Result refuse_lengths(struct MHD_Connection *connection)
{
	static char text[] = "the request gives its length twice\n";
	struct MHD_Response *response =
		MHD_create_response_from_buffer(sizeof(text) - 1, text, MHD_RESPMEM_PERSISTENT);

	if (!response) {
		return MHD_NO;
	}
	host_add_header(response, "content-type", "text/plain");
	host_add_header(response, "connection", "close");
	enum MHD_Result sent = MHD_queue_response(connection, 400, response);

	MHD_destroy_response(response);
	return sent;
}

/* NOLINTNEXTLINE(readability-function-size): libmicrohttpd requires eight parameters */
static enum MHD_Result on_request(void *cls, struct MHD_Connection *connection, const char *url,
                                  const char *method, const char *version, const char *piece,
                                  size_t *piece_n, void **state)
{
	const struct host *h = cls;

	if (!*state) {
		MHD_set_connection_option(connection, MHD_CONNECTION_OPTION_TIMEOUT, BETWEEN_S);
		if (has_two_lengths(connection)) {
			return refuse_lengths(connection);
		}
	}
	return h->handle(h->ctx, connection, url, method, version, piece, piece_n, state);
}

int host_start(struct host *h, const struct host_conf *c, struct error *err)
{
	int fd = -1;

	h->port = c->port;
	h->handle = c->handle;
	h->ctx = c->ctx;
	listen_allow_many();
	if (listen_on(c->bind ? c->bind : "127.0.0.1", &h->port, &fd, err)) {
		return -1;
	}
	if (suspend_queue_start(c->clock, &h->waits, err)) {
		close(fd);
		return -1;
	}
	h->daemon = MHD_start_daemon(
		MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME | c->flags, h->port, NULL,
		NULL, on_request, h, MHD_OPTION_LISTEN_SOCKET, (MHD_socket)fd,
		MHD_OPTION_NOTIFY_COMPLETED, c->forget, NULL, MHD_OPTION_CONNECTION_LIMIT,
		CONNECTIONS_MAX, MHD_OPTION_CONNECTION_TIMEOUT, FIRST_REQUEST_S,
		MHD_OPTION_CONNECTION_MEMORY_LIMIT, c->connection_bytes, MHD_OPTION_END);
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
		MHD_stop_daemon(h->daemon);
	}
	suspend_queue_free(h->waits);
	h->daemon = NULL;
	h->waits = NULL;
}

struct str host_header(struct MHD_Connection *connection, const char *name)
{
	return str_from(MHD_lookup_connection_value(connection, MHD_HEADER_KIND, name));
}

void host_add_header(struct MHD_Response *response, const char *name, const char *value)
{
	if (MHD_add_response_header(response, name, value) != MHD_YES) {
		log_warn("serve: the header %s could not be set", name);
	}
}
