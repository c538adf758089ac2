/* An HTTP server with bad manners for test_http.c: a thread for each connection, raw
   sockets, port 0. What it does depends on the request's path: a row of odd_replies, or a
   function below. It never sleeps: it hangs until the client goes away, or until
   odd_go(). */
#ifndef TESTS_UNIT_ODD_SERVER_H
#define TESTS_UNIT_ODD_SERVER_H

#include "base/buf.h"
#include "loopback.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

enum odd_after { ODD_KEEP, ODD_CLOSE, ODD_RESET, ODD_HANG };

struct odd_server {
	int listener, signal_fd; /* signal_fd: written to by /signal */
	uint16_t port;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	/* Under the lock. */
	int connections, open, executed;
	bool go, streamed; /* streamed: /stream has sent all */
};

struct odd_connection {
	struct odd_server *server;
	int fd, requests;
	char request[300000];
};

#define ODD_OK "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
#define ODD_SSE                                                                          \
	"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\n"          \
	"Transfer-Encoding: chunked\r\n\r\n8\r\ndata: 1\n\r\n"

static const struct odd_reply {
	const char *path, *bytes;
	enum odd_after after;
} odd_replies[] = {
	{"/ok", ODD_OK, ODD_KEEP},
	{"/drop", "", ODD_CLOSE},
	{"/reset", "", ODD_RESET},
	{"/hang", "", ODD_HANG},
	{"/ok-then-drop", ODD_OK, ODD_CLOSE},
	{"/half-head", "HTTP/1.1 200 OK\r\nContent-Le", ODD_HANG},
	{"/cut-head", "HTTP/1.1 200 OK\r\nContent-Le", ODD_CLOSE},
	{"/half-body", "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf", ODD_HANG},
	{"/cut-body", "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf", ODD_CLOSE},
	{"/reset-body", "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf", ODD_RESET},
	{"/cut-chunk", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\nhalf",
         ODD_CLOSE},
	{"/cut-between",
         "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n", ODD_CLOSE},
	{"/bad-chunk",
         "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\nxyz\r\n",
         ODD_HANG},
	{"/garbage", "SSH-2.0-OpenSSH_9.2\r\n", ODD_CLOSE},
	{"/old", "HTTP/1.0 200 OK\r\n\r\nuntil the end", ODD_CLOSE},
	{"/empty", "HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n", ODD_KEEP},
	{"/none", "HTTP/1.1 204 No Content\r\n\r\n", ODD_KEEP},
	{"/500", "HTTP/1.1 500 Internal Server Error\r\nContent-Length: 4\r\n\r\noops",
         ODD_KEEP},
	{"/interim",
         "HTTP/1.1 100 Continue\r\nX-Early: 1\r\n\r\nHTTP/1.1 103 Early "
         "Hints\r\nX-Early: 2\r\n\r\n"
         "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
         ODD_KEEP},
	{"/headers",
         "HTTP/1.1 200 OK\r\nX-Two: first\r\nx-two:  last one "
         "\r\nX-Empty:\r\nContent-Type: "
         "Text/HTML ;charset=utf-8\r\nTransfer-Encoding: "
         "chunked\r\n\r\n2\r\nok\r\n0\r\nX-Two: "
         "trailer\r\n\r\n",
         ODD_KEEP},
	{"/307",
         "HTTP/1.1 307 Temporary Redirect\r\nLocation: /echo\r\nContent-Length: "
         "4\r\n\r\ngone",
         ODD_KEEP},
	{"/308", "HTTP/1.1 308 Permanent Redirect\r\nLocation: /echo\r\n\r\ngone",
         ODD_CLOSE},
	{"/302", "HTTP/1.1 302 Found\r\nLocation: /echo\r\nContent-Length: 4\r\n\r\ngone",
         ODD_KEEP},
	{"/307-away",
         "HTTP/1.1 307 Temporary Redirect\r\nLocation: http://127.0.0.1:1/echo\r\n"
         "Content-Length: 4\r\n\r\naway",
         ODD_KEEP},
	{"/307-lost", "HTTP/1.1 307 Temporary Redirect\r\nContent-Length: 4\r\n\r\nlost",
         ODD_KEEP},
	{"/307-loop",
         "HTTP/1.1 307 Temporary Redirect\r\nLocation: /307-loop\r\nContent-Length: "
         "0\r\n\r\n",
         ODD_KEEP},
	{"/307-hang",
         "HTTP/1.1 307 Temporary Redirect\r\nLocation: /ok\r\nContent-Length: 9\r\n\r\n",
         ODD_HANG},
};

static void odd_send(int fd, const char *bytes, size_t n)
{
	while (n > 0) {
		ssize_t sent = send(fd, bytes, n, MSG_NOSIGNAL);
		if (sent <= 0)
			return;
		bytes += sent;
		n -= (size_t)sent;
	}
}

static void odd_text(int fd, const char *text)
{
	odd_send(fd, text, strlen(text));
}

/* Waits for odd_go(). */
static void odd_wait(struct odd_server *s)
{
	pthread_mutex_lock(&s->lock);
	while (!s->go)
		pthread_cond_wait(&s->changed, &s->lock);
	s->go = false;
	pthread_mutex_unlock(&s->lock);
}

static void odd_go(struct odd_server *s)
{
	pthread_mutex_lock(&s->lock);
	s->go = true;
	pthread_cond_broadcast(&s->changed);
	pthread_mutex_unlock(&s->lock);
}

/* An event at once, a second one and the end only after odd_go(). */
static enum odd_after odd_stream(struct odd_connection *c)
{
	odd_text(c->fd, ODD_SSE);
	odd_wait(c->server);
	odd_text(c->fd, "8\r\ndata: 2\n\r\n0\r\n\r\n");
	pthread_mutex_lock(&c->server->lock);
	c->server->streamed = true;
	pthread_cond_broadcast(&c->server->changed);
	pthread_mutex_unlock(&c->server->lock);
	return ODD_KEEP;
}

static enum odd_after odd_release(struct odd_connection *c)
{
	odd_go(c->server);
	odd_text(c->fd, ODD_OK);
	return ODD_KEEP;
}

static enum odd_after odd_echo(struct odd_connection *c)
{
	char head[64];
	size_t n = strlen(c->request);
	snprintf(head, sizeof(head), "HTTP/1.1 200 OK\r\nContent-Length: %zu\r\n\r\n", n);
	odd_text(c->fd, head);
	odd_send(c->fd, c->request, n);
	return ODD_KEEP;
}

/* The first request of a connection is answered, the second taken and not answered. */
static enum odd_after odd_second_drop(struct odd_connection *c)
{
	if (c->requests > 1)
		return ODD_CLOSE;
	odd_text(c->fd, ODD_OK);
	return ODD_KEEP;
}

static enum odd_after odd_second_reset(struct odd_connection *c)
{
	enum odd_after after = odd_second_drop(c);
	return after == ODD_CLOSE ? ODD_RESET : after;
}

static enum odd_after odd_big(struct odd_connection *c)
{
	static const char head[] = "HTTP/1.1 200 OK\r\nContent-Length: 8388608\r\n\r\n";
	char block[4096];
	odd_text(c->fd, head);
	for (int i = 0; i < 2048; i++) {
		memset(block, 'a' + i % 26, sizeof(block));
		odd_send(c->fd, block, sizeof(block));
	}
	return ODD_KEEP;
}

static enum odd_after odd_big_head(struct odd_connection *c)
{
	char line[1024];
	snprintf(line, sizeof(line), "X-Long: %01000d\r\n", 1);
	odd_text(c->fd, "HTTP/1.1 200 OK\r\n");
	for (int i = 0; i < 80; i++)
		odd_text(c->fd, line);
	odd_text(c->fd, "Content-Length: 0\r\n\r\n");
	return ODD_HANG;
}

static enum odd_after odd_signal(struct odd_connection *c)
{
	uint64_t one = 1;
	if (write(c->server->signal_fd, &one, sizeof(one)) < 0)
		return ODD_CLOSE;
	return ODD_HANG;
}

/* The same, answered after odd_go(). */
static enum odd_after odd_signal_and_wait(struct odd_connection *c)
{
	enum odd_after after = odd_signal(c);
	odd_wait(c->server);
	odd_text(c->fd, ODD_OK);
	return after == ODD_HANG ? ODD_KEEP : after;
}

static const struct odd_function {
	const char *path;
	enum odd_after (*answer)(struct odd_connection *c);
} odd_functions[] = {
	{"/stream", odd_stream},
	{"/release", odd_release},
	{"/echo", odd_echo},
	{"/second-drop", odd_second_drop},
	{"/second-reset", odd_second_reset},
	{"/signal", odd_signal},
	{"/signal-and-wait", odd_signal_and_wait},
	{"/big", odd_big},
	{"/big-head", odd_big_head},
};

static enum odd_after odd_answer(struct odd_connection *c)
{
	const char *path = strchr(c->request, ' ') + 1;
	const char *host = strstr(path, "://");
	if (host && host < strstr(path, "\r\n")) /* as a proxy is asked */
		path = strchr(host + 3, '/');
	size_t n = strcspn(path, " ?");
	for (size_t i = 0; i < ARRAY_LEN(odd_functions); i++) {
		if (str_is((struct str){path, n}, odd_functions[i].path))
			return odd_functions[i].answer(c);
	}
	for (size_t i = 0; i < ARRAY_LEN(odd_replies); i++) {
		if (str_is((struct str){path, n}, odd_replies[i].path)) {
			odd_text(c->fd, odd_replies[i].bytes);
			return odd_replies[i].after;
		}
	}
	odd_text(c->fd, "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n");
	return ODD_KEEP;
}

static size_t odd_body_length(const char *request)
{
	const char *at = strstr(request, "\r\nContent-Length:");
	return at ? (size_t)strtoul(at + 17, NULL, 10) : 0;
}

/* One whole request into c->request; false when the client has gone. */
static bool odd_read_request(struct odd_connection *c)
{
	size_t n = 0, want = sizeof(c->request) - 1;
	const char *end = NULL;
	while (n < want) {
		ssize_t got = recv(c->fd, c->request + n, want - n, 0);
		if (got <= 0)
			return false;
		n += (size_t)got;
		c->request[n] = '\0';
		if (c->request[0] == 0x16) { /* TLS, answered as plain servers do */
			odd_text(c->fd, "HTTP/1.1 400 Bad Request\r\n\r\n");
			return false;
		}
		if (!end && (end = strstr(c->request, "\r\n\r\n")))
			want = (size_t)(end + 4 - c->request) +
			       odd_body_length(c->request);
		if (want > sizeof(c->request) - 1)
			return false;
	}
	c->requests++;
	pthread_mutex_lock(&c->server->lock);
	c->server->executed++;
	pthread_mutex_unlock(&c->server->lock);
	return true;
}

static void *odd_connection_run(void *arg)
{
	struct odd_connection *c = arg;
	struct odd_server *s = c->server;
	enum odd_after after = ODD_KEEP;
	while (after == ODD_KEEP && odd_read_request(c))
		after = odd_answer(c);
	char rest[512];
	while (after == ODD_HANG && recv(c->fd, rest, sizeof(rest), 0) > 0)
		continue;
	if (after == ODD_RESET)
		setsockopt(c->fd, SOL_SOCKET, SO_LINGER, &(struct linger){1, 0},
		           sizeof(struct linger));
	close(c->fd);
	free(c);
	pthread_mutex_lock(&s->lock);
	s->open--;
	pthread_cond_broadcast(&s->changed);
	pthread_mutex_unlock(&s->lock);
	return NULL;
}

static void *odd_accept(void *arg)
{
	struct odd_server *s = arg;
	int fd;
	while ((fd = accept(s->listener, NULL, NULL)) >= 0) {
		pthread_t thread;
		struct odd_connection *c = calloc(1, sizeof(*c));
		if (!c)
			abort();
		c->server = s;
		c->fd = fd;
		pthread_mutex_lock(&s->lock);
		s->connections++;
		s->open++;
		pthread_mutex_unlock(&s->lock);
		if (pthread_create(&thread, NULL, odd_connection_run, c) != 0)
			abort();
		pthread_detach(thread);
	}
	return NULL;
}

static inline void odd_start(struct odd_server *s)
{
	*s = (struct odd_server){.signal_fd = -1};
	pthread_mutex_init(&s->lock, NULL);
	pthread_cond_init(&s->changed, NULL);
	s->listener = loopback_listen(&s->port);
	if (pthread_create(&s->thread, NULL, odd_accept, s) != 0)
		abort();
}

/* Waits until at most n connections are open: the others have been closed on both sides.
 */
static inline void odd_wait_open(struct odd_server *s, int n)
{
	pthread_mutex_lock(&s->lock);
	while (s->open > n)
		pthread_cond_wait(&s->changed, &s->lock);
	pthread_mutex_unlock(&s->lock);
}

static inline void odd_wait_streamed(struct odd_server *s)
{
	pthread_mutex_lock(&s->lock);
	while (!s->streamed)
		pthread_cond_wait(&s->changed, &s->lock);
	s->streamed = false;
	pthread_mutex_unlock(&s->lock);
}

static inline int odd_read(struct odd_server *s, const int *counter)
{
	pthread_mutex_lock(&s->lock);
	int value = *counter;
	pthread_mutex_unlock(&s->lock);
	return value;
}

static inline void odd_reset_counts(struct odd_server *s)
{
	pthread_mutex_lock(&s->lock);
	s->connections = s->executed = 0;
	pthread_mutex_unlock(&s->lock);
}

static inline void odd_stop(struct odd_server *s)
{
	shutdown(s->listener, SHUT_RDWR);
	pthread_join(s->thread, NULL);
	odd_wait_open(s, 0);
	close(s->listener);
	pthread_mutex_destroy(&s->lock);
	pthread_cond_destroy(&s->changed);
}

#endif
