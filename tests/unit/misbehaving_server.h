/* A misbehaving HTTP server for test_http.c, with a thread for each connection, raw sockets
   and port 0. The path of the request selects a row of misbehaving_replies or a function
   below. It never sleeps: it hangs until the client closes the connection, or until
   misbehaving_go(). */
#pragma once

#include "base/buf.h"
#include "loopback.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

enum misbehaving_after { MISBEHAVING_KEEP, MISBEHAVING_CLOSE, MISBEHAVING_RESET, MISBEHAVING_HANG };

struct misbehaving_server {
	int listener, signal_fd; /* signal_fd: written to by /signal */
	uint16_t port;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	/* Guarded by the lock. */
	int connections, open, executed;
	bool go, streamed; /* streamed: /stream has sent everything */
};

struct misbehaving_connection {
	struct misbehaving_server *server;
	int fd, requests;
	char request[3 << 20];
};

#define MISBEHAVING_OK "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
#define MISBEHAVING_SSE                                                                            \
	"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\n"                    \
	"Transfer-Encoding: chunked\r\n\r\n8\r\ndata: 1\n\r\n"

static const struct misbehaving_reply {
	const char *path, *bytes;
	enum misbehaving_after after;
} misbehaving_replies[] = {
	{"/ok", MISBEHAVING_OK, MISBEHAVING_KEEP},
	{"/drop", "", MISBEHAVING_CLOSE},
	{"/reset", "", MISBEHAVING_RESET},
	{"/hang", "", MISBEHAVING_HANG},
	{"/ok-then-drop", MISBEHAVING_OK, MISBEHAVING_CLOSE},
	{"/half-head", "HTTP/1.1 200 OK\r\nContent-Le", MISBEHAVING_HANG},
	{"/cut-head", "HTTP/1.1 200 OK\r\nContent-Le", MISBEHAVING_CLOSE},
	{"/half-body", "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf", MISBEHAVING_HANG},
	{"/cut-body", "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf", MISBEHAVING_CLOSE},
	{"/reset-body", "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf", MISBEHAVING_RESET},
	{"/cut-chunk", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\nhalf",
         MISBEHAVING_CLOSE},
	{"/cut-between", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n",
         MISBEHAVING_CLOSE},
	{"/bad-chunk", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\nxyz\r\n",
         MISBEHAVING_HANG},
	{"/garbage", "SSH-2.0-OpenSSH_9.2\r\n", MISBEHAVING_CLOSE},
	{"/old", "HTTP/1.0 200 OK\r\n\r\nuntil the end", MISBEHAVING_CLOSE},
	{"/empty", "HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n", MISBEHAVING_KEEP},
	{"/none", "HTTP/1.1 204 No Content\r\n\r\n", MISBEHAVING_KEEP},
	{"/500", "HTTP/1.1 500 Internal Server Error\r\nContent-Length: 4\r\n\r\noops",
         MISBEHAVING_KEEP},
	{"/interim",
         "HTTP/1.1 100 Continue\r\nX-Early: 1\r\n\r\nHTTP/1.1 103 Early "
         "Hints\r\nX-Early: 2\r\n\r\n"
         "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
         MISBEHAVING_KEEP},
	{"/interim-only", "HTTP/1.1 102 Processing\r\n\r\n", MISBEHAVING_CLOSE},
	{"/gzip", "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 2\r\n\r\n\x1f\x8b",
         MISBEHAVING_KEEP},
	{"/identity",
         "HTTP/1.1 200 OK\r\nContent-Encoding: identity\r\nContent-Length: 2\r\n\r\nok",
         MISBEHAVING_KEEP},
	{"/charset", "HTTP/1.1 200 OK\r\nContent-Encoding: UTF-8\r\nContent-Length: 2\r\n\r\nok",
         MISBEHAVING_KEEP},
	{"/headers",
         "HTTP/1.1 200 OK\r\nX-Two: first\r\nx-two:  last one "
         "\r\nX-Empty:\r\nContent-Type: "
         "Text/HTML ;charset=utf-8\r\nTransfer-Encoding: "
         "chunked\r\n\r\n2\r\nok\r\n0\r\nX-Two: "
         "trailer\r\n\r\n",
         MISBEHAVING_KEEP},
	{"/307",
         "HTTP/1.1 307 Temporary Redirect\r\nLocation: /echo\r\nContent-Length: "
         "4\r\n\r\ngone",
         MISBEHAVING_KEEP},
	{"/308", "HTTP/1.1 308 Permanent Redirect\r\nLocation: /echo\r\n\r\ngone",
         MISBEHAVING_CLOSE},
	{"/302", "HTTP/1.1 302 Found\r\nLocation: /echo\r\nContent-Length: 4\r\n\r\ngone",
         MISBEHAVING_KEEP},
	{"/307-away",
         "HTTP/1.1 307 Temporary Redirect\r\nLocation: http://127.0.0.1:1/echo\r\n"
         "Content-Length: 4\r\n\r\naway",
         MISBEHAVING_KEEP},
	{"/307-lost", "HTTP/1.1 307 Temporary Redirect\r\nContent-Length: 4\r\n\r\nlost",
         MISBEHAVING_KEEP},
	{"/307-loop",
         "HTTP/1.1 307 Temporary Redirect\r\nLocation: /307-loop\r\nContent-Length: "
         "0\r\n\r\n",
         MISBEHAVING_KEEP},
	{"/307-hang",
         "HTTP/1.1 307 Temporary Redirect\r\nLocation: /ok\r\nContent-Length: 9\r\n\r\n",
         MISBEHAVING_HANG},
};

static void misbehaving_send(int fd, const char *bytes, size_t n)
{
	while (n > 0) {
		ssize_t sent = send(fd, bytes, n, MSG_NOSIGNAL);

		if (sent <= 0)
			return;
		bytes += sent;
		n -= (size_t)sent;
	}
}

static void misbehaving_text(int fd, const char *text)
{
	misbehaving_send(fd, text, strlen(text));
}

/* Waits for misbehaving_go(). */
static void misbehaving_wait(struct misbehaving_server *s)
{
	pthread_mutex_lock(&s->lock);
	while (!s->go)
		pthread_cond_wait(&s->changed, &s->lock);
	s->go = false;
	pthread_mutex_unlock(&s->lock);
}

static void misbehaving_go(struct misbehaving_server *s)
{
	pthread_mutex_lock(&s->lock);
	s->go = true;
	pthread_cond_broadcast(&s->changed);
	pthread_mutex_unlock(&s->lock);
}

/* Sends an event at once; a second one and the end only after misbehaving_go(). */
static enum misbehaving_after misbehaving_stream(struct misbehaving_connection *c)
{
	misbehaving_text(c->fd, MISBEHAVING_SSE);
	misbehaving_wait(c->server);
	misbehaving_text(c->fd, "8\r\ndata: 2\n\r\n0\r\n\r\n");
	pthread_mutex_lock(&c->server->lock);
	c->server->streamed = true;
	pthread_cond_broadcast(&c->server->changed);
	pthread_mutex_unlock(&c->server->lock);
	return MISBEHAVING_KEEP;
}

static enum misbehaving_after misbehaving_release(struct misbehaving_connection *c)
{
	misbehaving_go(c->server);
	misbehaving_text(c->fd, MISBEHAVING_OK);
	return MISBEHAVING_KEEP;
}

static enum misbehaving_after misbehaving_echo(struct misbehaving_connection *c)
{
	char head[64];
	size_t n = strlen(c->request);

	snprintf(head, sizeof(head), "HTTP/1.1 200 OK\r\nContent-Length: %zu\r\n\r\n", n);
	misbehaving_text(c->fd, head);
	misbehaving_send(c->fd, c->request, n);
	return MISBEHAVING_KEEP;
}

/* Replies to the first request of a connection; reads the second one without a reply. */
static enum misbehaving_after misbehaving_second_drop(struct misbehaving_connection *c)
{
	if (c->requests > 1)
		return MISBEHAVING_CLOSE;
	misbehaving_text(c->fd, MISBEHAVING_OK);
	return MISBEHAVING_KEEP;
}

static enum misbehaving_after misbehaving_second_reset(struct misbehaving_connection *c)
{
	enum misbehaving_after after = misbehaving_second_drop(c);

	return after == MISBEHAVING_CLOSE ? MISBEHAVING_RESET : after;
}

static enum misbehaving_after misbehaving_big(struct misbehaving_connection *c)
{
	static const char head[] = "HTTP/1.1 200 OK\r\nContent-Length: 8388608\r\n\r\n";
	char block[4096];

	misbehaving_text(c->fd, head);
	for (int i = 0; i < 2048; i++) {
		memset(block, 'a' + i % 26, sizeof(block));
		misbehaving_send(c->fd, block, sizeof(block));
	}
	return MISBEHAVING_KEEP;
}

static enum misbehaving_after misbehaving_big_head(struct misbehaving_connection *c)
{
	char line[1024];

	snprintf(line, sizeof(line), "X-Long: %01000d\r\n", 1);
	misbehaving_text(c->fd, "HTTP/1.1 200 OK\r\n");
	for (int i = 0; i < 80; i++)
		misbehaving_text(c->fd, line);
	misbehaving_text(c->fd, "Content-Length: 0\r\n\r\n");
	return MISBEHAVING_HANG;
}

/* More than libcurl reads of headers in sum. */
static enum misbehaving_after misbehaving_interim_flood(struct misbehaving_connection *c)
{
	char reply[1100];

	snprintf(reply, sizeof(reply), "HTTP/1.1 103 Early Hints\r\nX-Long: %01000d\r\n\r\n", 1);
	for (int i = 0; i < 400; i++)
		misbehaving_text(c->fd, reply);
	return MISBEHAVING_CLOSE;
}

static enum misbehaving_after misbehaving_signal(struct misbehaving_connection *c)
{
	uint64_t one = 1;

	if (write(c->server->signal_fd, &one, sizeof(one)) < 0)
		return MISBEHAVING_CLOSE;
	return MISBEHAVING_HANG;
}

/* The same, answered after misbehaving_go(). */
static enum misbehaving_after misbehaving_signal_and_wait(struct misbehaving_connection *c)
{
	enum misbehaving_after after = misbehaving_signal(c);

	misbehaving_wait(c->server);
	misbehaving_text(c->fd, MISBEHAVING_OK);
	return after == MISBEHAVING_HANG ? MISBEHAVING_KEEP : after;
}

static const struct misbehaving_function {
	const char *path;
	enum misbehaving_after (*answer)(struct misbehaving_connection *c);
} misbehaving_functions[] = {
	{"/stream", misbehaving_stream},
	{"/release", misbehaving_release},
	{"/echo", misbehaving_echo},
	{"/second-drop", misbehaving_second_drop},
	{"/second-reset", misbehaving_second_reset},
	{"/signal", misbehaving_signal},
	{"/signal-and-wait", misbehaving_signal_and_wait},
	{"/big", misbehaving_big},
	{"/big-head", misbehaving_big_head},
	{"/interim-flood", misbehaving_interim_flood},
};

static enum misbehaving_after misbehaving_answer(struct misbehaving_connection *c)
{
	const char *path = strchr(c->request, ' ') + 1;
	const char *host = strstr(path, "://");

	if (host && host < strstr(path, "\r\n")) /* the request line that a proxy gets */
		path = strchr(host + 3, '/');
	size_t n = strcspn(path, " ?");
	for (size_t i = 0; i < ARRAY_LEN(misbehaving_functions); i++)
		if (str_is((struct str){path, n}, misbehaving_functions[i].path))
			return misbehaving_functions[i].answer(c);
	for (size_t i = 0; i < ARRAY_LEN(misbehaving_replies); i++) {
		if (str_is((struct str){path, n}, misbehaving_replies[i].path)) {
			misbehaving_text(c->fd, misbehaving_replies[i].bytes);
			return misbehaving_replies[i].after;
		}
	}
	misbehaving_text(c->fd, "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n");
	return MISBEHAVING_KEEP;
}

static size_t misbehaving_body_length(const char *request)
{
	const char *at = strstr(request, "\r\nContent-Length:");

	return at ? (size_t)strtoul(at + 17, NULL, 10) : 0;
}

/* Reads a complete request into c->request; false if the client has closed the connection.
   */
static bool misbehaving_read_request(struct misbehaving_connection *c)
{
	size_t n = 0, want = sizeof(c->request) - 1;
	const char *end = NULL;

	while (n < want) {
		ssize_t got = recv(c->fd, c->request + n, want - n, 0);

		if (got <= 0)
			return false;
		n += (size_t)got;
		c->request[n] = '\0';
		if (c->request[0] == 0x16) { /* TLS: as plain servers reply */
			misbehaving_text(c->fd, "HTTP/1.1 400 Bad Request\r\n\r\n");
			return false;
		}
		if (!end && (end = strstr(c->request, "\r\n\r\n")))
			want = (size_t)(end + 4 - c->request) + misbehaving_body_length(c->request);
		if (want > sizeof(c->request) - 1)
			return false;
	}
	c->requests++;
	pthread_mutex_lock(&c->server->lock);
	c->server->executed++;
	pthread_mutex_unlock(&c->server->lock);
	return true;
}

static void *misbehaving_connection_run(void *arg)
{
	struct misbehaving_connection *c = arg;
	struct misbehaving_server *s = c->server;
	enum misbehaving_after after = MISBEHAVING_KEEP;

	while (after == MISBEHAVING_KEEP && misbehaving_read_request(c))
		after = misbehaving_answer(c);
	char rest[512];
	while (after == MISBEHAVING_HANG && recv(c->fd, rest, sizeof(rest), 0) > 0)
		continue;
	if (after == MISBEHAVING_RESET) {
		setsockopt(c->fd, SOL_SOCKET, SO_LINGER, &(struct linger){1, 0},
		           sizeof(struct linger));
	}
	close(c->fd);
	free(c);
	pthread_mutex_lock(&s->lock);
	s->open--;
	pthread_cond_broadcast(&s->changed);
	pthread_mutex_unlock(&s->lock);
	return NULL;
}

static void *misbehaving_accept(void *arg)
{
	struct misbehaving_server *s = arg;
	int fd;

	while ((fd = accept(s->listener, NULL, NULL)) >= 0) {
		pthread_t thread;
		struct misbehaving_connection *c = calloc(1, sizeof(*c));

		if (!c)
			abort();
		c->server = s;
		c->fd = fd;
		pthread_mutex_lock(&s->lock);
		s->connections++;
		s->open++;
		pthread_mutex_unlock(&s->lock);
		if (pthread_create(&thread, NULL, misbehaving_connection_run, c) != 0)
			abort();
		pthread_detach(thread);
	}
	return NULL;
}

static inline void misbehaving_start(struct misbehaving_server *s)
{
	*s = (struct misbehaving_server){.signal_fd = -1};
	pthread_mutex_init(&s->lock, NULL);
	pthread_cond_init(&s->changed, NULL);
	s->listener = loopback_listen(&s->port);
	if (pthread_create(&s->thread, NULL, misbehaving_accept, s) != 0)
		abort();
}

/* Waits until at most n connections are open, and the others are closed on both sides. */
static inline void misbehaving_wait_open(struct misbehaving_server *s, int n)
{
	pthread_mutex_lock(&s->lock);
	while (s->open > n)
		pthread_cond_wait(&s->changed, &s->lock);
	pthread_mutex_unlock(&s->lock);
}

static inline void misbehaving_wait_streamed(struct misbehaving_server *s)
{
	pthread_mutex_lock(&s->lock);
	while (!s->streamed)
		pthread_cond_wait(&s->changed, &s->lock);
	s->streamed = false;
	pthread_mutex_unlock(&s->lock);
}

static inline int misbehaving_read(struct misbehaving_server *s, const int *counter)
{
	pthread_mutex_lock(&s->lock);
	int value = *counter;
	pthread_mutex_unlock(&s->lock);
	return value;
}

static inline void misbehaving_reset_counts(struct misbehaving_server *s)
{
	pthread_mutex_lock(&s->lock);
	s->connections = s->executed = 0;
	pthread_mutex_unlock(&s->lock);
}

static inline void misbehaving_stop(struct misbehaving_server *s)
{
	shutdown(s->listener, SHUT_RDWR);
	pthread_join(s->thread, NULL);
	misbehaving_wait_open(s, 0);
	close(s->listener);
	pthread_mutex_destroy(&s->lock);
	pthread_cond_destroy(&s->changed);
}
