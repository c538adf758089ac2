/* net/websocket against a server on raw sockets: the handshake, frames of every form and
   size, split at any position, and invalid frames; pings are answered while nothing waits
   for a message. */
#include "net/websocket_internal.h"
#include "tap.h"
#include "ws_server.h"

#include <poll.h>
#include <stdatomic.h>
#include <sys/eventfd.h>

#define LONG_MS 20000

static struct io *io;

/* One connection: the client's end and the server's. */
struct pair {
	struct websocket *ws;
	int listener, fd;
	uint16_t port;
	const char *answer; /* in place of the 101; NULL: a valid one */
	const char *more;   /* header lines of the 101 */
	const char *before; /* sent before the reply */
	struct str early;   /* sent together with it */
	size_t split;       /* where the reply is split; 0: nowhere */
	bool drip;          /* byte by byte */
	bool close_after;
	char request[8192];
	int rc;
	struct error err;
};

static void *serve_handshake(void *arg)
{
	struct pair *p = arg;
	struct buf reply = BUF(BUF_MAX_MESSAGE);

	p->fd = accept(p->listener, NULL, NULL);
	if (p->fd < 0 || !wss_request(p->fd, p->request, sizeof(p->request)))
		return NULL;
	buf_text(&reply, p->before ? p->before : "");
	if (p->answer)
		buf_text(&reply, p->answer);
	else
		wss_reply(p->request, p->more ? p->more : "", &reply);
	buf_str(&reply, p->early);
	for (size_t i = 0; p->drip && i < reply.n; i++)
		wss_write(p->fd, reply.p + i, 1);
	size_t first = p->split && p->split < reply.n ? p->split : reply.n;
	if (p->drip)
		first = reply.n = 0;
	wss_write(p->fd, reply.p, first);
	if (first < reply.n) { /* most likely two reads of the client */
		poll(NULL, 0, 1);
		wss_write(p->fd, reply.p + first, reply.n - first);
	}
	if (p->close_after)
		shutdown(p->fd, SHUT_RDWR);
	buf_release(&reply);
	return NULL;
}

static void pair_open(struct pair *p, size_t max_bytes, uint64_t timeout_ms)
{
	static const char *const headers[] = {"X-Key: secret"};
	char url[64];
	pthread_t thread;

	p->listener = loopback_listen(&p->port);
	p->fd = -1;
	snprintf(url, sizeof(url), "ws://127.0.0.1:%d/a/ws?b=c", p->port);
	struct websocket_conf conf = {.url = url,
	                              .headers = headers,
	                              .header_count = 1,
	                              .timeout_ms = timeout_ms,
	                              .max_bytes = max_bytes};
	if (pthread_create(&thread, NULL, serve_handshake, p) != 0)
		abort();
	p->rc = websocket_open(io, &conf, &p->ws, &p->err);
	pthread_join(thread, NULL);
	close(p->listener);
}

static struct pair open_pair(void)
{
	struct pair p = {0};

	pair_open(&p, 1 << 20, LONG_MS);
	if (p.rc != 0)
		abort();
	return p;
}

static void pair_close(struct pair *p)
{
	websocket_free(p->ws);
	if (p->fd >= 0)
		close(p->fd);
}

/* The next message as a string; "" if there is none. */
static const char *next_text(struct pair *p)
{
	static struct buf text;
	struct websocket_message m;
	struct error err = {0};

	buf_release(&text);
	text = BUF(BUF_MAX_MESSAGE);
	if (websocket_receive(p->ws, &m, LONG_MS, &err) == 1)
		buf_str(&text, m.bytes);
	return buf_cstr(&text);
}

/* ---- the handshake ---- */

static void test_handshake(void)
{
	struct pair p = open_pair();
	char host[64];

	snprintf(host, sizeof(host), "\r\nHost: 127.0.0.1:%d\r\n", p.port);
	ok(strncmp(p.request, "GET /a/ws?b=c HTTP/1.1\r\n", 24) == 0, "request line");
	ok(strstr(p.request, host) && strstr(p.request, "\r\nX-Key: secret\r\n") &&
	           strstr(p.request, "\r\nSec-WebSocket-Version: 13\r\n"),
	   "headers, ours and the user's");
	ok(!strstr(p.request, "Extensions"), "no extension is offered");
	is_int(websocket_end(p.ws), WEBSOCKET_OPEN, "open");
	is_str(websocket_why(p.ws), "", "and no explanation");
	pair_close(&p);
}

static void test_bad_handshakes(void)
{
	static const struct {
		const char *name, *answer, *more;
		bool close_after;
		enum fail kind;
		const char *says;
	} rows[] = {
		{"no HTTP", "SSH-2.0-OpenSSH\r\n", NULL, true, FAIL_PROTOCOL, "not HTTP"},
		{"another key",
	         "HTTP/1.1 101 x\r\nUpgrade: websocket\r\nConnection: upgrade\r\n"
	         "Sec-WebSocket-Accept: AAAAAAAAAAAAAAAAAAAAAAAAAAA=\r\n\r\n",
	         NULL, false, FAIL_PROTOCOL, "does not match the key"},
		{"no upgrade", "HTTP/1.1 101 x\r\nConnection: upgrade\r\n\r\n", NULL, false,
	         FAIL_PROTOCOL, "without the upgrade"},
		{"an extension", NULL, "Sec-WebSocket-Extensions: permessage-deflate\r\n", false,
	         FAIL_PROTOCOL, "extension"},
		{"a subprotocol", NULL, "Sec-WebSocket-Protocol: chat\r\n", false, FAIL_PROTOCOL,
	         "subprotocol"},
		{"cut off", "HTTP/1.1 101 Swit", NULL, true, FAIL_TRANSPORT,
	         "closed the connection"},
		{"nothing", "", NULL, true, FAIL_TRANSPORT, "closed the connection"},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct pair p = {.answer = rows[i].answer,
		                 .more = rows[i].more,
		                 .close_after = rows[i].close_after};

		pair_open(&p, 0, LONG_MS);
		is_int(p.rc, -1, "%s: refused", rows[i].name);
		is_int(p.err.kind, rows[i].kind, "%s: kind", rows[i].name);
		ok(strstr(p.err.text, rows[i].says) != NULL, "%s: %s", rows[i].name, p.err.text);
		pair_close(&p);
	}
	struct pair late = {.answer = "HTTP/1.1 101 "};
	pair_open(&late, 0, 30);
	is_int(late.err.kind, FAIL_TIMEOUT, "half an answer: %s", late.err.text);
	pair_close(&late);
	struct pair silent = {.answer = ""};
	pair_open(&silent, 0, 30);
	is_int(silent.err.kind, FAIL_TIMEOUT, "no answer: %s", silent.err.text);
	pair_close(&silent);
}

static void test_interim(void)
{
	struct pair p = {
		.before =
			"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n",
		.drip = true};

	pair_open(&p, 0, LONG_MS);
	is_int(p.rc, 0, "interim responses before the 101 are skipped %s", p.err.text);
	pair_close(&p);
	struct pair refused = {
		.answer = "HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 403 Forbidden\r\n\r\nnope"};
	pair_open(&refused, 0, LONG_MS);
	ok(refused.rc == 0 && strstr(websocket_why(refused.ws), "HTTP 403"),
	   "and before a refusal");
	pair_close(&refused);
}

static void test_endless_headers(void)
{
	struct buf answer = BUF(BUF_MAX_MESSAGE);

	buf_text(&answer, "HTTP/1.1 101 x\r\n");
	while (answer.n < 70000)
		buf_text(&answer, "X-More: and more\r\n");
	struct pair p = {.answer = buf_cstr(&answer)};
	pair_open(&p, 0, LONG_MS);
	ok(p.rc == -1 && p.err.kind == FAIL_PROTOCOL && strstr(p.err.text, "longer than 64 KiB"),
	   "endless headers: %s", p.err.text);
	pair_close(&p);
	buf_release(&answer);
}

static void test_single_bytes(void)
{
	struct buf frame = BUF(BUF_MAX_SMALL);

	wss_frame(&frame, 0x81, STR("hello"));
	struct pair p = {.drip = true, .early = buf_view(&frame)};
	pair_open(&p, 0, LONG_MS);
	ok(p.rc == 0 && !strcmp(next_text(&p), "hello"), "a handshake byte by byte, and a message");
	pair_close(&p);
	buf_release(&frame);
}

/* Name and password in the URL are credentials of the handshake, too, unless a header
   overrides them. */
static void test_user(void)
{
	static const unsigned char key[HANDSHAKE_KEY_BYTES];
	static const char *const own[] = {"authorization: Bearer x"};
	struct handshake h;
	struct error err;

	is_int(handshake_begin(&h, "http://me:p%40ss@[::1]:81/a/ws?x=1#y", "t", NULL, 0, key, &err),
	       0, "a URL with everything");
	ok(strstr(buf_cstr(&h.request), "GET /a/ws?x=1 HTTP/1.1\r\nHost: [::1]:81\r\n"),
	   "path, query and address");
	ok(strstr(buf_cstr(&h.request), "\r\nAuthorization: Basic bWU6cEBzcw==\r\n"),
	   "name and password");
	handshake_release(&h);
	is_int(handshake_begin(&h, "http://me:x@h/ws", "t", own, 1, key, &err), 0, "and a header");
	ok(strstr(buf_cstr(&h.request), "Bearer x") && !strstr(buf_cstr(&h.request), "Basic"),
	   "the header counts");
	handshake_release(&h);
}

static void test_declines(void)
{
	static const struct {
		int status;
		const char *answer, *says;
	} rows[] = {
		{301, "HTTP/1.1 301 Moved\r\nLocation: https://elsewhere.test/ws\r\n\r\n",
	         "HTTP 301, to https://elsewhere.test/ws"},
		{307, "HTTP/1.1 307 x\r\nLocation: /ws\x1b[2J\r\n\r\n", "HTTP 307, to /ws\\x1b[2J"},
		{200, "HTTP/1.1 200 OK\r\n\r\n<html>", "HTTP 200"},
		{401, "HTTP/1.1 401 x\r\n\r\n", "HTTP 401"},
		{426, "HTTP/1.0 426\r\n\r\n", "HTTP 426"},
		{502, "HTTP/1.1 502 Bad Gateway\r\n\r\n<html>", "HTTP 502"},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct pair p = {.answer = rows[i].answer, .close_after = true};

		pair_open(&p, 0, LONG_MS);
		is_int(p.rc, 0, "%d: an answer", rows[i].status);
		is_int(websocket_code(p.ws), rows[i].status, "%d: its status", rows[i].status);
		ok(strstr(websocket_why(p.ws), rows[i].says) != NULL, "%d: %s", rows[i].status,
		   websocket_why(p.ws));
		pair_close(&p);
	}
}

static void test_declined(void)
{
	struct pair p = {.answer = "HTTP/1.1 403 Forbidden\r\nContent-Length: 4\r\n\r\nnope"};

	pair_open(&p, 0, LONG_MS);
	is_int(p.rc, 0, "403: an answer");
	is_int(websocket_end(p.ws), WEBSOCKET_DECLINED, "403: declined");
	is_int(websocket_code(p.ws), 403, "403: the status");
	ok(strstr(websocket_why(p.ws), "HTTP 403") != NULL, "403: %s", websocket_why(p.ws));
	websocket_send(p.ws, STR("{}"));
	is_str(next_text(&p), "", "403: no message");
	pair_close(&p);
}

static void test_bad_urls(void)
{
	static const char *const urls[] = {"ftp://127.0.0.1/", "ws//127.0.0.1", "", "ws://"};

	for (size_t i = 0; i < ARRAY_LEN(urls); i++) {
		struct websocket_conf conf = {.url = urls[i], .timeout_ms = LONG_MS};
		struct websocket *ws;
		struct error err = {0};

		ok(websocket_open(io, &conf, &ws, &err) == -1 && !ws && err.kind == FAIL_USAGE,
		   "'%s' is not a URL: %s", urls[i], err.text);
	}
	static const char *const header[] = {"No\r\nInjection: here"};
	struct websocket_conf conf = {
		.url = "ws://127.0.0.1:1/ws", .headers = header, .header_count = 1};
	struct websocket *ws;
	struct error err = {0};
	ok(websocket_open(io, &conf, &ws, &err) == -1 && err.kind == FAIL_USAGE,
	   "a header of two lines: %s", err.text);
	conf.header_count = 0;
	ok(websocket_open(io, &conf, &ws, &err) == -1 && err.kind == FAIL_TRANSPORT,
	   "no listener: %s", err.text);
}

/* The reply and two frames after it, split at every position. */
static void test_split_handshake(void)
{
	struct buf frames = BUF(BUF_MAX_SMALL);
	int good = 0, all = 0;

	wss_frame(&frames, 0x81, STR("first"));
	wss_frame(&frames, 0x81, STR("second"));
	for (size_t at = 1; at < 160; at += 3, all++) {
		struct pair p = {.early = buf_view(&frames), .split = at};

		pair_open(&p, 0, LONG_MS);
		bool first = p.rc == 0 && !strcmp(next_text(&p), "first");
		good += first && !strcmp(next_text(&p), "second");
		pair_close(&p);
	}
	is_int(good, all, "frames directly after the handshake, split anywhere");
	buf_release(&frames);
}

/* ---- frames ---- */

static void test_sizes(void)
{
	static const size_t sizes[] = {0, 1, 125, 126, 127, 4096, 65535, 65536, 1u << 20};
	struct pair p = open_pair();

	for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
		struct buf text = BUF(BUF_MAX_MESSAGE);
		struct websocket_message m = {0};
		struct error err = {0};

		for (size_t n = 0; n < sizes[i]; n++)
			buf_char(&text, (char)('a' + n % 26));
		struct buf bytes = BUF(BUF_MAX_MESSAGE);
		wss_frame(&bytes, 0x81, buf_view(&text));
		/* more than a socket's buffer: the server must not wait for the client */
		size_t at = 0;
		while (at < bytes.n) {
			ssize_t n =
				send(p.fd, bytes.p + at, bytes.n - at, MSG_NOSIGNAL | MSG_DONTWAIT);

			at += n > 0 ? (size_t)n : 0;
			websocket_has_message(p.ws);
		}
		int got = websocket_receive(p.ws, &m, LONG_MS, &err);
		ok(got == 1 && str_eq(m.bytes, buf_view(&text)), "%zu bytes", sizes[i]);
		buf_release(&bytes);
		buf_release(&text);
	}
	pair_close(&p);
}

static void test_splits(void)
{
	struct pair p = open_pair();
	struct buf bytes = BUF(BUF_MAX_SMALL);
	struct buf long_text = BUF(BUF_MAX_SMALL);
	int good = 0;

	for (int i = 0; i < 130; i++)
		buf_char(&long_text, 'x');
	wss_frame(&bytes, 0x01, STR("ab"));
	wss_frame(&bytes, 0x89, STR("ping"));
	wss_frame(&bytes, 0x00, STR("c\xc3"));
	wss_frame(&bytes, 0x8a, STR(""));
	wss_frame(&bytes, 0x80, STR("\xb6"));
	wss_frame(&bytes, 0x81, buf_view(&long_text));
	for (size_t at = 0; at <= bytes.n; at++) {
		wss_write(p.fd, bytes.p, at);
		websocket_has_message(p.ws);
		wss_write(p.fd, bytes.p + at, bytes.n - at);
		bool first = !strcmp(next_text(&p), "abc\xc3\xb6");
		good += first && !strcmp(next_text(&p), buf_cstr(&long_text));
	}
	is_int(good, (int)bytes.n + 1, "fragments, control frames between, split anywhere");
	struct wss_got pong = {0};
	for (size_t i = 0; i <= bytes.n; i++) {
		wss_next(p.fd, &pong);
		good -= pong.first == 0x8a && pong.masked &&
		        str_is(buf_view(&pong.payload), "ping");
	}
	is_int(good, 0, "each ping got its pong, masked");
	buf_release(&pong.payload);
	for (size_t i = 0; i < bytes.n; i++) {
		wss_write(p.fd, bytes.p + i, 1);
		websocket_has_message(p.ws);
	}
	is_str(next_text(&p), "abc\xc3\xb6", "byte by byte");
	buf_release(&bytes);
	buf_release(&long_text);
	pair_close(&p);
}

/* Bytes that are invalid in a header, and the resulting errors. */
static void test_protocol_violations(void)
{
	static const struct {
		const char *name;
		struct str bytes;
		int code;
	} rows[] = {
		{"masked", STR_INIT("\x81\x81\x01\x02\x03\x04\x60"), 1002},
		{"RSV1", STR_INIT("\xc1\x01x"), 1002},
		{"reserved opcode", STR_INIT("\x83\x01x"), 1002},
		{"reserved control opcode", STR_INIT("\x8b\x00"), 1002},
		{"continuation of nothing", STR_INIT("\x80\x01x"), 1002},
		{"text inside text", STR_INIT("\x01\x01x\x81\x01y"), 1002},
		{"fragmented ping", STR_INIT("\x09\x01x"), 1002},
		{"long ping", STR_INIT("\x89\x7e\x00\x7e"), 1002},
		{"1 GiB",
	         STR_INIT("\x81\x7f\x00\x00\x00\x00\x40\x00\x00\x00"
	                  "x"),
	         1009},
		{"one byte over the limit",
	         STR_INIT("\x81\x7f\x00\x00\x00\x00\x00\x10\x00\x01"
	                  "x"),
	         1009},
		{"negative length", STR_INIT("\x81\x7f\xff\xff\xff\xff\xff\xff\xff\xff"), 1002},
		{"length spelled too long", STR_INIT("\x81\x7e\x00\x01x"), 1002},
		{"no UTF-8", STR_INIT("\x81\x02\xc3\x28"), 1007},
		{"UTF-8 cut off", STR_INIT("\x81\x01\xc3"), 1007},
		{"HTTP after the 101", STR_INIT("HTTP/1.1 200 OK\r\n\r\n"), 1002},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct pair p = open_pair();
		struct websocket_message m;
		struct error err = {0};

		wss_write(p.fd, rows[i].bytes.p, rows[i].bytes.n);
		is_int(websocket_receive(p.ws, &m, LONG_MS, &err), 0, "%s: ends it", rows[i].name);
		is_int(websocket_end(p.ws), WEBSOCKET_BROKEN, "%s: how", rows[i].name);
		is_int(websocket_code(p.ws), rows[i].code, "%s: %s", rows[i].name,
		       websocket_why(p.ws));
		pair_close(&p);
	}
}

static void test_total_limit(void)
{
	struct pair p = {0};
	struct websocket_message m;
	struct error err = {0};

	pair_open(&p, 10, LONG_MS);
	wss_send(p.fd, 0x01, STR("12345678"));
	wss_send(p.fd, 0x80, STR("90x"));
	is_int(websocket_receive(p.ws, &m, LONG_MS, &err), 0, "fragments over the limit");
	is_int(websocket_code(p.ws), 1009, "%s", websocket_why(p.ws));
	pair_close(&p);
}

static void test_binary(void)
{
	struct pair p = open_pair();
	struct websocket_message m = {0};
	struct error err = {0};

	wss_send(p.fd, 0x82, STR("\x00\xff"));
	is_int(websocket_receive(p.ws, &m, LONG_MS, &err), 1, "binary: arrives");
	ok(m.binary && m.bytes.n == 2, "binary: and is reported as such");
	pair_close(&p);
}

/* ---- the end ---- */

static void test_closes(void)
{
	static const struct {
		int code;
		const char *reason, *says;
	} rows[] = {
		{1000, "", "closed the WebSocket: 1000"},
		{1000, "done", "closed the WebSocket: 1000 done"},
		{1001, "", "closed the WebSocket: 1001"},
		{1001, "going away", "closed the WebSocket: 1001 going away"},
		{1009, "", "closed the WebSocket: 1009"},
		{1011, "", "closed the WebSocket: 1011"},
		{1012, "service restart", "closed the WebSocket: 1012 service restart"},
		{1009, "message too big", "closed the WebSocket: 1009 message too big"},
		{1011, "keepalive ping timeout", "1011 keepalive ping timeout"},
		{1012, "", "closed the WebSocket: 1012"},
		{4001, "own words", "4001 own words"},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct pair p = open_pair();
		struct websocket_message m;
		struct wss_got f = {0};
		struct error err = {0};

		wss_send(p.fd, 0x81, STR("last words"));
		wss_send_close(p.fd, rows[i].code, rows[i].reason);
		is_str(next_text(&p), "last words", "%d: the message before it", rows[i].code);
		is_int(websocket_receive(p.ws, &m, LONG_MS, &err), 0, "%d: the end", rows[i].code);
		is_int(websocket_end(p.ws), WEBSOCKET_CLOSED, "%d: closed", rows[i].code);
		is_int(websocket_code(p.ws), rows[i].code, "%d: its code", rows[i].code);
		ok(strstr(websocket_why(p.ws), rows[i].says) != NULL, "%d: %s", rows[i].code,
		   websocket_why(p.ws));
		wss_next(p.fd, &f);
		is_int(f.first, 0x88, "%d: closed from our side, too", rows[i].code);
		buf_release(&f.payload);
		pair_close(&p);
	}
	struct pair p = open_pair();
	wss_send(p.fd, 0x88, STR(""));
	is_str(next_text(&p), "", "a Close without a code");
	is_int(websocket_code(p.ws), 1005, "is 1005");
	pair_close(&p);
}

static void test_lost(void)
{
	struct pair p = open_pair();

	wss_write(p.fd, "\x81\x05hal", 5);
	shutdown(p.fd, SHUT_WR);
	is_str(next_text(&p), "", "cut off in the middle of a frame");
	is_int(websocket_end(p.ws), WEBSOCKET_LOST, "%s", websocket_why(p.ws));
	pair_close(&p);

	p = open_pair();
	setsockopt(p.fd, SOL_SOCKET, SO_LINGER, &(struct linger){1, 0}, sizeof(struct linger));
	close(p.fd);
	p.fd = -1;
	is_str(next_text(&p), "", "reset");
	is_int(websocket_end(p.ws), WEBSOCKET_LOST, "%s", websocket_why(p.ws));
	pair_close(&p);
}

static void test_close(void)
{
	struct pair p = open_pair();
	struct wss_got f = {0};

	websocket_close(p.ws, 0);
	wss_next(p.fd, &f);
	ok(f.first == 0x88 && str_eq(buf_view(&f.payload), STR("\x03\xe8")), "a Close with 1000");
	buf_release(&f.payload);
	pair_close(&p);
}

/* A peer that does not reply to a Close, and one that keeps sending. */
static void test_close_without_reply(void)
{
	struct pair p = open_pair();

	websocket_close(p.ws, 30);
	is_int(websocket_end(p.ws), WEBSOCKET_OPEN,
	       "no Close arrived, and the connection continues");
	pair_close(&p);
}

/* ---- floods ---- */

struct flood {
	int fd;
	struct buf piece, last; /* sent repeatedly; sent at the end */
	size_t times;
	pthread_t thread;
};

static void *pour(void *arg)
{
	struct flood *f = arg;

	for (size_t i = 0; i <= f->times; i++) {
		const struct buf *b = i < f->times ? &f->piece : &f->last;

		for (size_t at = 0; at < b->n;) {
			ssize_t n = send(f->fd, b->p + at, b->n - at, MSG_NOSIGNAL);

			if (n <= 0)
				return NULL;
			at += (size_t)n;
		}
	}
	return NULL;
}

static void flood_start(struct flood *f)
{
	if (pthread_create(&f->thread, NULL, pour, f) != 0)
		abort();
}

static void flood_stop(struct flood *f)
{
	shutdown(f->fd, SHUT_RDWR);
	pthread_join(f->thread, NULL);
	buf_release(&f->piece);
	buf_release(&f->last);
}

static void test_gibibyte_in_pieces(void)
{
	struct pair p = open_pair();
	struct flood f = {.fd = p.fd,
	                  .piece = BUF(BUF_MAX_MESSAGE),
	                  .last = BUF(BUF_MAX_SMALL),
	                  .times = 1 << 14};
	struct buf text = BUF(BUF_MAX_MESSAGE);
	struct websocket_message m;
	struct error err = {0};

	while (text.n < 65536)
		buf_char(&text, 'x');
	wss_send(p.fd, 0x01, STR("begin"));
	wss_frame(&f.piece, 0x00, buf_view(&text));
	flood_start(&f);
	is_int(websocket_receive(p.ws, &m, LONG_MS, &err), 0, "1 GiB in pieces: ends it");
	is_int(websocket_code(p.ws), 1009, "%s", websocket_why(p.ws));
	ok(p.ws->frames.partial.cap <= 4u << 20, "of which %zu bytes were kept",
	   p.ws->frames.partial.cap);
	flood_stop(&f);
	pair_close(&p);
	buf_release(&text);
}

static void *drain(void *arg)
{
	char bytes[65536];

	while (recv(*(int *)arg, bytes, sizeof(bytes), 0) > 0) {
	}
	return NULL;
}

/* Endless pings from a peer that reads no pongs: the queue of pongs is limited. When the
   peer reads them, the connection continues. */
static void test_endless_pings(void)
{
	struct pair p = open_pair();
	struct flood f = {.fd = p.fd,
	                  .piece = BUF(BUF_MAX_MESSAGE),
	                  .last = BUF(BUF_MAX_SMALL),
	                  .times = 400};
	struct websocket_message m;
	struct error err = {0};
	pthread_t reader;
	int waits = 0, messages = 0, small = 1 << 18;

	setsockopt(p.fd, SOL_SOCKET, SO_RCVBUF, &small, sizeof(small));
	setsockopt(p.ws->fd, SOL_SOCKET, SO_SNDBUF, &small, sizeof(small));
	while (f.piece.n < 60000)
		wss_frame(&f.piece, 0x89, STR("are you there"));
	wss_frame(&f.last, 0x81, STR("after"));
	flood_start(&f);
	while (p.ws->frames.out.n <= PONGS_MAX && waits++ < 4000)
		messages += websocket_receive(p.ws, &m, 5, &err) != -1;
	for (int i = 0; i < 20; i++)
		messages += websocket_receive(p.ws, &m, 1, &err) != -1;
	is_int(messages, 0, "pings are not messages");
	ok(p.ws->frames.out.n > PONGS_MAX && p.ws->frames.out.n < PONGS_MAX + ((size_t)256 << 10),
	   "%zu bytes wait for a peer that does not read", p.ws->frames.out.n);
	if (pthread_create(&reader, NULL, drain, &p.fd) != 0)
		abort();
	is_str(next_text(&p), "after", "and once it reads, we do");
	flood_stop(&f);
	pthread_join(reader, NULL);
	pair_close(&p);
}

/* A peer that never pauses does not delay a deadline. */
static void test_flood_and_deadline(void)
{
	struct pair p = open_pair();
	struct flood f = {.fd = p.fd,
	                  .piece = BUF(BUF_MAX_MESSAGE),
	                  .last = BUF(BUF_MAX_SMALL),
	                  .times = SIZE_MAX - 1};
	struct websocket_message m;
	struct error err = {0};

	while (f.piece.n < 60000)
		wss_frame(&f.piece, 0x8a, STR("a pong"));
	flood_start(&f);
	is_int(websocket_receive(p.ws, &m, 50, &err), -1, "pongs without end");
	is_int(err.kind, FAIL_TIMEOUT, "%s", err.text);
	websocket_close(p.ws, 20);
	flood_stop(&f);
	pair_close(&p);
}

/* ---- waiting ---- */

static void test_pings_while_thinking(void)
{
	struct pair p = open_pair();
	struct wss_got f = {0};
	struct error err = {0};
	struct pollfd answer = {.fd = p.fd, .events = POLLIN};

	wss_send(p.fd, 0x89, STR("are you there"));
	for (int i = 0; i < 2000 && poll(&answer, 1, 0) == 0; i++)
		is_int(io_wait(io, NULL, 10, &err) == 0 ? 0 : 1, 0, "thinking");
	wss_next(p.fd, &f);
	ok(f.first == 0x8a && str_is(buf_view(&f.payload), "are you there"),
	   "a ping is answered while the client waits for nothing");
	buf_release(&f.payload);
	pair_close(&p);
}

/* libwslay's context is freed in a wait, but not within a message. */
static void test_rest(void)
{
	struct pair p = open_pair();
	struct error err = {0};

	wss_write(p.fd, "\x01\x02so\x80", 5);
	is_int(io_wait(io, NULL, 150, &err), 0, "half a frame arrived");
	ok(p.ws->frames.wslay != NULL, "a message is being received");
	wss_write(p.fd, "\x02me", 3);
	is_str(next_text(&p), "some", "its end arrives after a wait");
	is_int(io_wait(io, NULL, 150, &err), 0, "nothing arrives");
	ok(p.ws->frames.wslay == NULL, "no context without incoming data");
	wss_send(p.fd, 0x81, STR("more"));
	is_str(next_text(&p), "more", "a message after that");
	wss_send(p.fd, 0x88, STR("\x03\xe8"));
	is_str(next_text(&p), "", "the end");
	is_int(websocket_end(p.ws), WEBSOCKET_CLOSED, "%s", websocket_why(p.ws));
	pair_close(&p);
}

static void test_late(void)
{
	struct pair p = open_pair();
	struct websocket_message m;
	struct error err = {0};

	is_int(websocket_receive(p.ws, &m, 10, &err), -1, "nothing arrived");
	is_int(err.kind, FAIL_TIMEOUT, "%s", err.text);
	ok(!websocket_has_message(p.ws), "and no message is available");
	wss_send(p.fd, 0x81, STR("late"));
	is_str(next_text(&p), "late", "a later message can still be read");
	pair_close(&p);
}

static void test_many(void)
{
	struct pair p = open_pair();
	struct buf bytes = BUF(BUF_MAX_MESSAGE);
	char text[16];
	int good = 0;

	for (int i = 0; i < 5000; i++) {
		snprintf(text, sizeof(text), "%d", i);
		wss_frame(&bytes, 0x81, str_from(text));
	}
	wss_write(p.fd, bytes.p, bytes.n);
	websocket_has_message(p.ws);
	for (int i = 0; i < 5000; i++) {
		snprintf(text, sizeof(text), "%d", i);
		good += !strcmp(next_text(&p), text);
	}
	is_int(good, 5000, "5000 messages at once, in order");
	buf_release(&bytes);
	pair_close(&p);
}

struct reader {
	int fd;
	struct wss_got got;
	atomic_bool done;
};

static void *read_one(void *arg)
{
	struct reader *r = arg;

	wss_next(r->fd, &r->got);
	atomic_store(&r->done, true);
	return NULL;
}

static void test_sending(void)
{
	static const size_t sizes[] = {0, 125, 126, 65536, 8u << 20};
	struct pair p = open_pair();

	for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
		struct reader r = {.fd = p.fd};
		struct buf text = BUF(BUF_MAX_MESSAGE);
		struct error err = {0};
		pthread_t thread;
		bool said = false;

		for (size_t n = 0; n < sizes[i]; n++)
			buf_char(&text, (char)('a' + n % 26));
		if (pthread_create(&thread, NULL, read_one, &r) != 0)
			abort();
		websocket_send(p.ws, buf_view(&text));
		/* bytes that do not fit into the socket are sent while waiting */
		wss_send(p.fd, 0x81, STR("go on"));
		while (!said && io_wait(io, NULL, 1, &err) == 0)
			said = atomic_load(&r.done);
		pthread_join(thread, NULL);
		ok(r.got.first == 0x81 && r.got.masked &&
		           str_eq(buf_view(&r.got.payload), buf_view(&text)),
		   "%zu bytes out, masked", sizes[i]);
		is_str(next_text(&p), "go on", "%zu bytes: and on", sizes[i]);
		buf_release(&r.got.payload);
		buf_release(&text);
	}
	pair_close(&p);
}

static void test_interrupt(void)
{
	int stop = eventfd(0, 0);
	struct io_conf conf = {.clock = clock_real(), .stop_fd = stop};
	struct io *usual = io;
	struct error err = {0};
	struct websocket_message m;

	if (io_new(&conf, &io, &err) < 0)
		abort();
	struct pair p = open_pair();
	ok(eventfd_write(stop, 1) == 0, "a signal");
	is_int(websocket_receive(p.ws, &m, LONG_MS, &err), -1, "ends the wait");
	is_int(err.kind, FAIL_INTERRUPTED, "and reports it");
	pair_close(&p);
	io_free(io);
	io = usual;
	close(stop);
}

int main(void)
{
	struct io_conf conf = {.clock = clock_real(), .stop_fd = -1};
	struct error err;

	if (io_global_init(&err) < 0 || io_new(&conf, &io, &err) < 0)
		abort();
	test_handshake();
	test_bad_handshakes();
	test_interim();
	test_endless_headers();
	test_single_bytes();
	test_user();
	test_declines();
	test_declined();
	test_bad_urls();
	test_split_handshake();
	test_sizes();
	test_splits();
	test_protocol_violations();
	test_total_limit();
	test_binary();
	test_closes();
	test_lost();
	test_close();
	test_close_without_reply();
	test_gibibyte_in_pieces();
	test_endless_pings();
	test_flood_and_deadline();
	test_pings_while_thinking();
	test_rest();
	test_late();
	test_many();
	test_sending();
	test_interrupt();
	io_free(io);
	io_global_cleanup();
	return done();
}
