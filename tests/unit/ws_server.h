/* The server side of WebSocket tests, on raw sockets: a listener on port 0, the handshake,
   sending arbitrary frames, and reading frames strictly. */
#pragma once

#include "base/base64.h"
#include "base/buf.h"
#include "base/hash.h"
#include "base/text.h"
#include "loopback.h"

#include <arpa/inet.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

/* Writes all of it, or as much as the client reads before it closes the connection. */
static inline void wss_write(int fd, const void *bytes, size_t n)
{
	for (const char *p = bytes; n > 0;) {
		ssize_t sent = send(fd, p, n, MSG_NOSIGNAL);

		if (sent <= 0)
			return;
		p += sent;
		n -= (size_t)sent;
	}
}

static inline bool wss_read(int fd, void *to, size_t n)
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

/* Reads the head of a request byte by byte, so that no part of a frame is read. */
static inline bool wss_request(int fd, char *out, size_t room)
{
	size_t n = 0;

	while (n + 1 < room && wss_read(fd, out + n, 1)) {
		out[++n] = '\0';
		if (n >= 4 && !memcmp(out + n - 4, "\r\n\r\n", 4))
			return true;
	}
	return false;
}

static inline void wss_accept_key(const char *request, struct buf *out)
{
	const char *key = strstr(request, "Sec-WebSocket-Key: ");
	struct buf text = BUF(512);
	unsigned char digest[HASH_SHA1_BYTES];

	if (key) {
		key += 19;
		buf_add(&text, key, strcspn(key, "\r"));
	}
	buf_text(&text, "258EAFA5-E914-47DA-95CA-C5AB0DC85B11");
	hash_sha1(buf_view(&text), digest);
	base64_encode(out, (struct str){(const char *)digest, sizeof(digest)});
	buf_release(&text);
}

/* The matching 101 for the request; `more` are additional header lines. */
static inline void wss_reply(const char *request, const char *more, struct buf *out)
{
	buf_text(out, "HTTP/1.1 101 Switching Protocols\r\nupgrade: WebSocket\r\n"
	              "Connection: keep-alive, Upgrade\r\nSec-WebSocket-Accept: ");
	wss_accept_key(request, out);
	buf_printf(out, "\r\n%s\r\n", more);
}

/* One frame as a server sends it. first: FIN, RSV bits and opcode. */
static inline void wss_frame(struct buf *out, unsigned char first, struct str payload)
{
	size_t n = payload.n;

	buf_char(out, (char)first);
	if (n < 126) {
		buf_char(out, (char)n);
	} else if (n < 65536) {
		const unsigned char head[] = {126, (unsigned char)(n >> 8), (unsigned char)n};

		buf_add(out, head, sizeof(head));
	} else {
		buf_char(out, 127);
		for (int shift = 56; shift >= 0; shift -= 8)
			buf_char(out, (char)((uint64_t)n >> shift & 255));
	}
	buf_str(out, payload);
}

static inline void wss_send(int fd, unsigned char first, struct str payload)
{
	struct buf bytes = BUF(BUF_MAX_MESSAGE);

	wss_frame(&bytes, first, payload);
	wss_write(fd, bytes.p, bytes.n);
	buf_release(&bytes);
}

static inline void wss_send_close(int fd, int code, const char *reason)
{
	struct buf payload = BUF(256);

	buf_char(&payload, (char)(code >> 8));
	buf_char(&payload, (char)(code & 255));
	buf_text(&payload, reason);
	wss_send(fd, 0x88, buf_view(&payload));
	buf_release(&payload);
}

struct wss_got {
	unsigned char first; /* 0: the client has closed the connection */
	bool masked;
	struct buf payload;
};

/* The client's next frame. */
static inline void wss_next(int fd, struct wss_got *f)
{
	unsigned char head[2], longer[8], mask[4] = {0};
	uint64_t n;

	buf_release(&f->payload);
	*f = (struct wss_got){.payload = BUF(BUF_MAX_MESSAGE)};
	if (!wss_read(fd, head, 2))
		return;
	n = head[1] & 127;
	size_t more = n == 126 ? 2 : n == 127 ? 8 : 0;
	if (!wss_read(fd, longer, more))
		return;
	for (size_t i = 0; i < more; i++)
		n = (i ? n << 8 : 0) | longer[i];
	f->masked = head[1] & 128;
	if (f->masked && !wss_read(fd, mask, 4))
		return;
	char *to = buf_room(&f->payload, n);
	if (n && (!to || !wss_read(fd, to, n)))
		return;
	f->payload.n += n;
	for (size_t i = 0; i < n; i++)
		to[i] = (char)((unsigned char)to[i] ^ mask[i % 4]);
	buf_cstr(&f->payload); /* callers search it as a string */
	f->first = head[0];
}
