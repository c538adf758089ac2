/* A WebSocket client on a raw socket for tests of the built-in server: the handshake,
   sending arbitrary frames, and reading frames one at a time. */
#pragma once

#include "base/buf.h"

#include "serve_client.h"

#include <netinet/tcp.h>
#include <stdio.h>

enum { WS_TEXT = 1, WS_BINARY = 2, WS_CLOSE = 8, WS_PING = 9, WS_PONG = 10, WS_GONE = 0 };

#define WS_FIN 0x80

/* Does the handshake and returns the reply's status. Frames after its head stay unread. */
static inline unsigned ws_handshake(int fd, const char *path)
{
	char head[2048];
	size_t n = 0;
	int length = snprintf(head, sizeof(head),
	                      "GET %s HTTP/1.1\r\nHost: localhost\r\nConnection: "
	                      "Upgrade\r\nUpgrade: websocket\r\n"
	                      "Sec-WebSocket-Version: 13\r\n"
	                      "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
	                      path);

	send_all(fd, head, (size_t)length);
	while (n + 1 < sizeof(head) && recv(fd, head + n, 1, 0) == 1) {
		head[++n] = '\0';
		if (n >= 4 && memcmp(head + n - 4, "\r\n\r\n", 4) == 0)
			break;
	}
	return n > 12 ? (unsigned)strtoul(head + 9, NULL, 10) : 0;
}

static inline int ws_connect(const struct server *s)
{
	int fd = connect_to(s), yes = 1;

	(void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
	if (ws_handshake(fd, "/ws") != 101) {
		fprintf(stderr, "# no WebSocket\n");
		exit(1);
	}
	return fd;
}

/* first: FIN and opcode. The mask is zero, which leaves the payload unchanged. */
static inline void ws_send(int fd, unsigned first, struct str payload)
{
	unsigned char head[14] = {(unsigned char)first};
	size_t n = 2;

	if (payload.n < 126) {
		head[1] = (unsigned char)(0x80 | payload.n);
	} else if (payload.n < 65536) {
		head[1] = 0x80 | 126;
		head[n++] = (unsigned char)(payload.n >> 8);
		head[n++] = (unsigned char)payload.n;
	} else {
		head[1] = 0x80 | 127;
		for (int shift = 56; shift >= 0; shift -= 8)
			head[n++] = (unsigned char)((uint64_t)payload.n >> shift);
	}
	send_all(fd, (const char *)head, n + 4);
	send_all(fd, payload.p, payload.n);
}

static inline void ws_say(int fd, const char *text)
{
	ws_send(fd, WS_FIN | WS_TEXT, str_from(text));
}

struct ws_frame {
	int opcode; /* WS_GONE: the connection ended, or no frame arrived in time */
	int code;   /* of a Close frame; 0: none */
	char text[8 << 10];
};

static inline bool ws_read(int fd, void *to, size_t n)
{
	for (char *p = to; n > 0;) {
		ssize_t got = recv(fd, p, n, 0);

		if (got <= 0)
			return false;
		p += got;
		n -= (size_t)got;
	}
	return true;
}

static inline void ws_next(int fd, struct ws_frame *f)
{
	unsigned char head[2], longer[2];
	size_t n;

	memset(f, 0, sizeof(*f));
	if (!ws_read(fd, head, 2))
		return;
	n = head[1];
	if (n == 126 && ws_read(fd, longer, 2))
		n = (size_t)longer[0] << 8 | longer[1];
	if (n >= sizeof(f->text) || !ws_read(fd, f->text, n))
		return;
	f->opcode = head[0] & 15;
	if (f->opcode == WS_CLOSE && n >= 2) {
		f->code = (unsigned char)f->text[0] << 8 | (unsigned char)f->text[1];
		memmove(f->text, f->text + 2, n - 2);
		f->text[n - 2] = '\0';
	}
}

/* Sends a text and returns the next one. */
static inline const char *ws_ask(int fd, const char *text, struct ws_frame *f)
{
	ws_say(fd, text);
	ws_next(fd, f);
	return f->opcode == WS_TEXT ? f->text : "(no text)";
}

/* True when the server has closed the connection. */
static inline bool ws_ended(int fd)
{
	char byte;

	return recv(fd, &byte, 1, 0) == 0;
}

/* Expects a Close frame with a reply, and the end of the connection. */
static inline void ws_leave(int fd)
{
	struct ws_frame f;

	ws_send(fd, WS_FIN | WS_CLOSE, STR("\x03\xe8"));
	do {
		ws_next(fd, &f);
	} while (f.opcode != WS_GONE);
	close(fd);
}
