/* The listening socket, the threads and the waits of our HTTP servers: see host.h. */
#include "serve/host/host.h"

#include "base/log.h"
#include "base/mem.h"
#include "base/wake.h"
#include "net/listen.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <strings.h>
#include <unistd.h>

#define CONNECTIONS_MAX 4096u
#define STACK_BYTES     ((size_t)512 << 10) /* of the thread of a connection */
#define FIRST_REQUEST_S 10u                 /* silence before a connection's first request */
#define BETWEEN_S       120u                /* and after that: as configured for uvicorn */
#define BODY_PATIENCE   ((size_t)64 << 20)  /* read and discarded: the client gets the 413 */

struct str host_header(struct MHD_Connection *connection, const char *name)
{
	return str_from(MHD_lookup_connection_value(connection, MHD_HEADER_KIND, name));
}

void host_add_header(struct MHD_Response *response, const char *name, const char *value)
{
	if (MHD_add_response_header(response, name, value) != MHD_YES)
		log_warn("serve: the header %s could not be set", name);
}

enum MHD_Result host_send(struct MHD_Connection *connection, unsigned status,
                          struct MHD_Response *response)
{
	enum MHD_Result sent = MHD_queue_response(connection, status, response);

	MHD_destroy_response(response);
	return sent;
}

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

	if (!response)
		return MHD_NO;
	host_add_header(response, "content-type", "text/plain");
	host_add_header(response, "connection", "close");
	return host_send(connection, 400, response);
}

/* MHD_NO closes a connection whose body exceeds BODY_PATIENCE. */
static enum MHD_Result receive(const struct host *h, struct host_request *q, const char *piece,
                               size_t *n)
{
	q->received += *n;
	q->too_large = q->received > h->conf.body_max;
	if (q->too_large)
		buf_clear(&q->body);
	else
		buf_add(&q->body, piece, *n);
	*n = 0;
	return q->received <= BODY_PATIENCE ? MHD_YES : MHD_NO;
}

/* Called with the headers, with each piece of the body, and at its end.
   NOLINTNEXTLINE(readability-function-size): libmicrohttpd requires eight parameters */
static enum MHD_Result on_request(void *cls, struct MHD_Connection *connection, const char *url,
                                  const char *method, const char *version, const char *piece,
                                  size_t *piece_n, void **state)
{
	struct host *h = cls;
	struct host_request *q = *state;

	(void)version;
	if (!q) {
		MHD_set_connection_option(connection, MHD_CONNECTION_OPTION_TIMEOUT, BETWEEN_S);
		if (has_two_lengths(connection))
			return refuse_lengths(connection);
		q = *state = mem_new(sizeof(*q));
		q->body = BUF(h->conf.body_max);
		return MHD_YES;
	}
	if (*piece_n > 0)
		return receive(h, q, piece, piece_n);
	q->method = method;
	q->url = url;
	pthread_mutex_lock(&h->lock);
	enum MHD_Result result = h->conf.answer(h->conf.ctx, connection, q);
	pthread_mutex_unlock(&h->lock);
	return result;
}

static void on_completed(void *cls, struct MHD_Connection *connection, void **state,
                         enum MHD_RequestTerminationCode how)
{
	struct host_request *q = *state;

	(void)cls, (void)connection, (void)how;
	if (q) {
		buf_release(&q->body);
		free(q);
	}
}

struct host_waiter {
	struct host_waiter *next;
	struct str session;
	bool ended;
};

static struct timespec moment_after(const struct host *h, uint64_t wait_ms)
{
	uint64_t ms = h->conf.clock.unix_ms(h->conf.clock.ctx) + wait_ms;

	return (struct timespec){.tv_sec = (time_t)(ms / 1000),
	                         .tv_nsec = (long)(ms % 1000) * 1000000};
}

bool host_wait(struct host *h, struct str session, uint64_t wait_ms)
{
	bool forever = wait_ms > (uint64_t)INT32_MAX * 1000;
	struct timespec until = moment_after(h, forever ? 0 : wait_ms);
	struct host_waiter me = {.next = h->waiters, .session = session}, **at = &h->waiters;
	int due = 0;

	h->waiters = &me; // cppcheck-suppress autoVariables ; removed below
	while (!h->closed && !me.ended && !due) {
		due = forever ? pthread_cond_wait(&h->changed, &h->lock)
		              : pthread_cond_timedwait(&h->changed, &h->lock, &until);
	}
	while (*at != &me)
		at = &(*at)->next;
	*at = me.next;
	return !h->closed;
}

void host_end_session(struct host *h, struct str session)
{
	for (struct host_waiter *w = h->waiters; w; w = w->next)
		w->ended |= str_eq(w->session, session);
	pthread_cond_broadcast(&h->changed);
}

bool host_add_socket(struct host *h, int change)
{
	pthread_mutex_lock(&h->lock);
	bool open = !h->closed;
	h->sockets += (size_t)change;
	pthread_cond_broadcast(&h->changed);
	pthread_mutex_unlock(&h->lock);
	return open;
}

static int start_daemon(struct host *h, int fd, struct error *err)
{
	h->daemon = MHD_start_daemon(
		MHD_USE_POLL_INTERNAL_THREAD | MHD_USE_THREAD_PER_CONNECTION | h->conf.flags,
		h->port, NULL, NULL, on_request, h, MHD_OPTION_LISTEN_SOCKET, (MHD_socket)fd,
		MHD_OPTION_NOTIFY_COMPLETED, on_completed, NULL, MHD_OPTION_CONNECTION_LIMIT,
		CONNECTIONS_MAX, MHD_OPTION_CONNECTION_TIMEOUT, FIRST_REQUEST_S,
		MHD_OPTION_CONNECTION_MEMORY_LIMIT, h->conf.connection_bytes,
		MHD_OPTION_THREAD_STACK_SIZE, STACK_BYTES, MHD_OPTION_END);
	return h->daemon ? 0
	                 : error_set(err, FAIL_SYSTEM, "cannot start a server on port %u", h->port);
}

int host_start(struct host *h, const struct host_conf *c, struct error *err)
{
	int fd = -1;

	*h = (struct host){.conf = *c, .port = c->port};
	listen_allow_many();
	if (pipe_open(h->stop))
		return error_errno(err, "cannot create a pipe");
	pthread_mutex_init(&h->lock, NULL);
	pthread_cond_init(&h->changed, NULL);
	if (listen_on(c->bind ? c->bind : "127.0.0.1", &h->port, &fd, err) ||
	    start_daemon(h, fd, err)) {
		if (fd >= 0)
			close(fd);
		close(h->stop[0]);
		close(h->stop[1]);
		return -1;
	}
	return 0;
}

void host_close(struct host *h)
{
	pthread_mutex_lock(&h->lock);
	h->closed = true;
	close(h->stop[1]);
	pthread_cond_broadcast(&h->changed);
	while (h->sockets)
		pthread_cond_wait(&h->changed, &h->lock);
	pthread_mutex_unlock(&h->lock);
}

void host_free(struct host *h)
{
	if (h->daemon) {
		MHD_stop_daemon(h->daemon);
		close(h->stop[0]);
		pthread_mutex_destroy(&h->lock);
		pthread_cond_destroy(&h->changed);
	}
	h->daemon = NULL;
}
