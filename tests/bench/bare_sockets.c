/* The minimum cost of an OpenEnv step and the state after it on this machine: raw sockets, a thread
   for each session, both frames in one send, replies counted but not parsed. Usage: bare_sockets
   PORT KEY SESSIONS STEPS; KEY is the only field of the action */
#include "base/base.h"

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

static const char handshake[] = "GET /ws HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\n"
				"Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
				"Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n";

struct session {
	pthread_t thread;
	int fd;
	long steps;
	const char *key;
	unsigned char in[65536];
	size_t have;
};

static void die(const char *what)
{
	perror(what);
	exit(1);
}

/* A text frame under 126 bytes, masked with zeros: RFC 6455, section 5.2. */
static size_t frame(char *to, const char *text)
{
	size_t n = strnlen(text, 125);

	memcpy(to, "\x81\0\0\0\0", 6);
	to[1] = (char)(0x80 | n);
	memcpy(to + 6, text, n);
	return 6 + n;
}

static void give(struct session *s, const char *bytes, size_t n)
{
	if (send(s->fd, bytes, n, MSG_NOSIGNAL) != (ssize_t)n)
		die("send");
}

static void more(struct session *s)
{
	ssize_t got = recv(s->fd, s->in + s->have, sizeof(s->in) - s->have, 0);

	if (got <= 0)
		die("recv");
	s->have += (size_t)got;
}

static void forget(struct session *s, size_t n)
{
	s->have -= n;
	memmove(s->in, s->in + n, s->have);
}

/* The bytes of the first frame, or 0 while it is not whole. A server masks nothing. */
static size_t whole_frame(const struct session *s)
{
	size_t n = s->have < 2 ? 0 : s->in[1], header = 2;

	if (n == 126) {
		n = s->have < 4 ? 0 : (size_t)s->in[2] << 8 | s->in[3];
		header = 4;
	}
	return n && s->have >= header + n ? header + n : 0;
}

static void await_frame(struct session *s)
{
	size_t n;

	while (!(n = whole_frame(s)))
		more(s);
	forget(s, n);
}

static void open_session(struct session *s, uint16_t port)
{
	struct sockaddr_in a = {.sin_family = AF_INET,
	                        .sin_port = htons(port),
	                        .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	char reset[64];
	int on = 1;
	const char *end;

	s->fd = socket(AF_INET, SOCK_STREAM, 0);
	if (connect(s->fd, (struct sockaddr *)&a, sizeof(a)))
		die("connect");
	setsockopt(s->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	give(s, handshake, sizeof(handshake) - 1);
	do {
		more(s);
		s->in[s->have] = '\0';
		end = strstr((char *)s->in, "\r\n\r\n");
	} while (!end);
	forget(s, (size_t)(end + 4 - (char *)s->in));
	give(s, reset, frame(reset, "{\"type\":\"reset\",\"data\":{}}"));
	await_frame(s);
}

static void *walk(void *arg)
{
	static const char *const moves[] = {"RIGHT", "LEFT"};
	struct session *s = arg;
	char move[100], both[256];

	for (long i = 0; i < s->steps; i++) {
		snprintf(move, sizeof(move), "{\"type\":\"step\",\"data\":{\"%s\":\"%s\"}}", s->key,
		         moves[i % 2]);
		size_t n = frame(both, move);

		n += frame(both + n, "{\"type\":\"state\"}");
		give(s, both, n);
		await_frame(s);
		await_frame(s);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	if (argc != 5) {
		fprintf(stderr, "usage: bare_sockets PORT KEY SESSIONS STEPS\n");
		return 2;
	}
	size_t count = strtoul(argv[3], NULL, 10);
	long steps = strtol(argv[4], NULL, 10);
	struct session *all = calloc(count, sizeof(*all));
	if (!all)
		die("calloc");
	for (size_t i = 0; i < count; i++) {
		all[i].steps = steps;
		all[i].key = argv[2];
		open_session(&all[i], (uint16_t)strtoul(argv[1], NULL, 10));
	}
	for (size_t i = 0; i < count; i++)
		if (pthread_create(&all[i].thread, NULL, walk, &all[i]))
			die("pthread_create");
	for (size_t i = 0; i < count; i++) {
		pthread_join(all[i].thread, NULL);
		close(all[i].fd);
	}
	free(all);
	return 0;
}
