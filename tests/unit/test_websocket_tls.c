/* net/websocket on connections that are not plain: TLS with a private authority, with
   certificates that must not be trusted, and through a proxy. All of it is on loopback: a
   proxy gets a name that is never resolved. */
#include "net/http.h"
#include "net/websocket.h"
#include "serve/serve.h"
#include "tap.h"
#include "tls_front.h"

#include <signal.h>

#define LONG_MS 20000

static struct tls_ca ca;
static char ca_file[64];

/* ---- a server that echoes each text until its client disconnects ---- */

struct echo {
	int listener;
	uint16_t port;
	pthread_t thread;
};

static void echo_connection(int fd)
{
	char request[8192];
	struct buf reply = BUF(BUF_MAX_SMALL);
	struct wss_got f = {0};

	if (wss_request(fd, request, sizeof(request))) {
		wss_reply(request, "", &reply);
		wss_write(fd, reply.p, reply.n);
		for (wss_next(fd, &f); f.first == 0x81; wss_next(fd, &f))
			wss_send(fd, 0x81, buf_view(&f.payload));
		if (f.first == 0x88)
			wss_send_close(fd, 1000, "");
	}
	buf_release(&f.payload);
	buf_release(&reply);
}

static void *echo_serve(void *arg)
{
	struct echo *e = arg;
	int fd;

	while ((fd = accept(e->listener, NULL, NULL)) >= 0) {
		echo_connection(fd);
		close(fd);
	}
	return NULL;
}

static struct echo echo;

/* ---- clients ---- */

static struct io *client(const char *trusted, bool insecure)
{
	struct io_conf conf = {
		.clock = clock_real(), .stop_fd = -1, .ca_file = trusted, .insecure = insecure};
	struct io *io;
	struct error err;

	if (io_new(&conf, &io, &err) < 0)
		abort();
	return io;
}

static int try_open(struct io *io, const char *url, struct websocket **ws, struct error *err)
{
	struct websocket_conf conf = {.url = url, .timeout_ms = LONG_MS};

	*err = (struct error){0};
	return websocket_open(io, &conf, ws, err);
}

/* Does an echoed text come back unchanged? */
static bool echo_works(struct websocket *ws, size_t bytes)
{
	struct buf text = BUF(BUF_MAX_MESSAGE);
	struct websocket_message m = {0};
	struct error err = {0};

	for (size_t i = 0; i < bytes; i++)
		buf_char(&text, (char)('a' + i % 26));
	websocket_send(ws, buf_view(&text));
	int got = websocket_receive(ws, &m, LONG_MS, &err);
	bool same = got == 1 && str_eq(m.bytes, buf_view(&text));
	buf_release(&text);
	return same;
}

/* ---- TLS ---- */

static void test_trusted(void)
{
	static const size_t sizes[] = {1, 4096, 16384, 16385, 300000};
	struct io *io = client(ca_file, false);
	struct tls_front front;
	struct websocket *ws;
	struct error err;
	char url[64];

	tls_front_start(&front, &ca, "IP:127.0.0.1", 3600, echo.port);
	snprintf(url, sizeof(url), "wss://127.0.0.1:%d/ws", front.port);
	is_int(try_open(io, url, &ws, &err), 0, "a private authority that is named: %s", err.text);
	for (size_t i = 0; i < ARRAY_LEN(sizes); i++)
		ok(echo_works(ws, sizes[i]), "%zu bytes there and back", sizes[i]);
	io_rest(io);
	ok(echo_works(ws, 10), "and after a pause, which this connection survives");
	websocket_close(ws, LONG_MS);
	is_int(websocket_end(ws), WEBSOCKET_CLOSED, "and a goodbye");
	websocket_free(ws);
	tls_front_stop(&front);
	is_str(front.offered,
	       "\x08"
	       "http/1.1",
	       "only HTTP/1.1 was offered");
	io_free(io);
}

static void test_untrusted(void)
{
	static const struct {
		const char *name, *san;
		long seconds;
		bool known;
		const char *says;
	} rows[] = {
		{"an unknown authority", "IP:127.0.0.1", 3600, false,
	         "unable to get local issuer certificate"},
		{"another host's name", "DNS:elsewhere.test", 3600, true, "127.0.0.1"},
		{"expired", "IP:127.0.0.1", -3600, true, "expired"},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct io *strict = client(rows[i].known ? ca_file : NULL, false);
		struct io *lax = client(NULL, true);
		struct tls_front front;
		struct websocket *ws;
		struct error err;
		char url[64];

		tls_front_start(&front, &ca, rows[i].san, rows[i].seconds, echo.port);
		snprintf(url, sizeof(url), "wss://127.0.0.1:%d/ws", front.port);
		is_int(try_open(strict, url, &ws, &err), -1, "%s: refused", rows[i].name);
		is_int(err.kind, FAIL_TRANSPORT, "%s: kind", rows[i].name);
		ok(strstr(err.text, "TLS: no secure connection") && strstr(err.text, rows[i].says),
		   "%s: %s", rows[i].name, err.text);
		ok(try_open(lax, url, &ws, &err) == 0 && echo_works(ws, 10),
		   "%s: accepted when verification is off", rows[i].name);
		websocket_free(ws);
		tls_front_stop(&front);
		io_free(strict);
		io_free(lax);
	}
}

static void test_no_tls_there(void)
{
	struct io *io = client(ca_file, false);
	struct websocket *ws;
	struct error err;
	char url[64];
	int listener = loopback_listen(&(uint16_t){0});
	struct sockaddr_in a;
	socklen_t size = sizeof(a);

	getsockname(listener, (struct sockaddr *)&a, &size);
	snprintf(url, sizeof(url), "wss://127.0.0.1:%d/ws", ntohs(a.sin_port));
	struct websocket_conf conf = {.url = url, .timeout_ms = 50};
	err = (struct error){0};
	is_int(websocket_open(io, &conf, &ws, &err), -1, "no answer to the ClientHello");
	is_int(err.kind, FAIL_TIMEOUT, "%s", err.text);
	close(listener);
	io_free(io);
}

/* ---- proxies ---- */

struct proxy {
	int listener;
	uint16_t port, to;
	const char *refusal; /* in place of a tunnel */
	char request[8192];
	pthread_t thread;
};

static void pass(int from, int to, bool *open)
{
	char bytes[16384];
	ssize_t n = recv(from, bytes, sizeof(bytes), 0);

	*open = *open && n > 0;
	if (n > 0)
		wss_write(to, bytes, (size_t)n);
}

static void *proxy_serve(void *arg)
{
	struct proxy *p = arg;
	struct sockaddr_in to = {.sin_family = AF_INET,
	                         .sin_port = htons(p->to),
	                         .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int fd = accept(p->listener, NULL, NULL);
	int there = socket(AF_INET, SOCK_STREAM, 0);
	bool open = fd >= 0 && wss_request(fd, p->request, sizeof(p->request)) && !p->refusal &&
	            connect(there, (struct sockaddr *)&to, sizeof(to)) == 0;

	if (p->refusal && fd >= 0)
		wss_write(fd, p->refusal, strlen(p->refusal));
	else if (open)
		wss_write(fd, "HTTP/1.1 200 OK\r\n\r\n", 19);
	struct pollfd ready[] = {{.fd = fd, .events = POLLIN}, {.fd = there, .events = POLLIN}};
	while (open) {
		poll(ready, 2, -1);
		if (ready[0].revents)
			pass(fd, there, &open);
		if (ready[1].revents)
			pass(there, fd, &open);
	}
	close(there);
	close(fd);
	return NULL;
}

static void proxy_start(struct proxy *p, const char *variable)
{
	char address[64];

	p->listener = loopback_listen(&p->port);
	snprintf(address, sizeof(address), "http://127.0.0.1:%d", p->port);
	setenv(variable, address, 1);
	if (pthread_create(&p->thread, NULL, proxy_serve, p) != 0)
		abort();
}

static void proxy_stop(struct proxy *p, const char *variable)
{
	unsetenv(variable);
	shutdown(p->listener, SHUT_RDWR);
	pthread_join(p->thread, NULL);
	close(p->listener);
}

static void test_proxy(void)
{
	static const char *const variables[] = {"http_proxy", "all_proxy", "ALL_PROXY"};

	for (size_t i = 0; i < ARRAY_LEN(variables); i++) {
		struct io *io = client(NULL, false);
		struct proxy p = {.to = echo.port};
		struct websocket *ws;
		struct error err;

		proxy_start(&p, variables[i]);
		is_int(try_open(io, "ws://lake.test/ws", &ws, &err), 0, "%s: %s", variables[i],
		       err.text);
		ok(echo_works(ws, 70000), "%s: there and back", variables[i]);
		websocket_free(ws);
		proxy_stop(&p, variables[i]);
		ok(strncmp(p.request, "CONNECT lake.test:80 HTTP/1.1\r\n", 31) == 0,
		   "%s: a tunnel to the host, by its name", variables[i]);
		io_free(io);
	}
}

/* 0: there was no trusted connection. */
static int status_of(struct io *io, const char *url, enum http_trust trust)
{
	static const char *const headers[] = {"Connection: close"};
	struct http_request q = {.method = "GET",
	                         .url = url,
	                         .headers = headers,
	                         .header_count = 1,
	                         .timeout_ms = LONG_MS,
	                         .trust = trust};
	struct http_exchange *x = NULL;
	struct error err = {0};

	if (http_begin(io, &q, &x, &err))
		abort();
	int status = http_wait_headers(x, &err) ? 0 : http_status(x);
	ok(status || strstr(err.text, "TLS"), "refused for its certificate, or not %s", err.text);
	http_end(x);
	return status;
}

/* One io is used for the environment and for the model: accepting a certificate of one does
   not affect the other. */
static void test_trust_of_requests(void)
{
	static const struct {
		bool insecure;
		enum http_trust trust;
		bool accepted;
	} rows[] = {
		{false, TRUST_AS_IO, false}, {false, TRUST_VALID, false}, {false, TRUST_ANY, true},
		{true, TRUST_AS_IO, true},   {true, TRUST_VALID, false},  {true, TRUST_ANY, true},
		{true, TRUST_AS_IO, true},   {false, TRUST_AS_IO, false},
	};
	struct io *ios[] = {client(NULL, false), client(NULL, true)};
	struct serve_conf conf;
	struct server *server = NULL;
	struct tls_front front;
	struct error err = {0};
	char url[64];

	serve_conf_init(&conf, clock_real());
	is_int(server_start(&conf, &server, &err), 0, "a server %s", err.text);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		tls_front_start(&front, &ca, "IP:127.0.0.1", 3600, server_port(server));
		snprintf(url, sizeof(url), "https://127.0.0.1:%d/mcp", front.port);
		is_int(status_of(ios[rows[i].insecure], url, rows[i].trust),
		       rows[i].accepted ? 405 : 0, "an unknown authority, %s, request %d",
		       rows[i].insecure ? "insecure" : "secure", rows[i].trust);
		tls_front_stop(&front);
	}
	io_free(ios[0]);
	io_free(ios[1]);
	server_stop(server);
}

static void test_tls_through_proxy(void)
{
	struct io *io = client(ca_file, false);
	struct tls_front front;
	struct websocket *ws;
	struct error err;

	tls_front_start(&front, &ca, "DNS:lake.test", 3600, echo.port);
	struct proxy p = {.to = front.port};
	proxy_start(&p, "https_proxy");
	is_int(try_open(io, "wss://lake.test/ws", &ws, &err), 0, "TLS in a tunnel: %s", err.text);
	ok(echo_works(ws, 70000), "there and back");
	websocket_free(ws);
	proxy_stop(&p, "https_proxy");
	ok(strncmp(p.request, "CONNECT lake.test:443 HTTP/1.1\r\n", 32) == 0,
	   "to the port of https");
	tls_front_stop(&front);
	io_free(io);
}

static void test_refusing_proxy(void)
{
	static const struct {
		const char *refusal, *says;
	} rows[] = {
		{"HTTP/1.1 407 Proxy Authentication Required\r\n"
	         "Proxy-Authenticate: Basic\r\nContent-Length: 0\r\n\r\n",
	         "407"},
		{"HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n", "502"},
		{"", "lake.test:80"},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct io *io = client(NULL, false);
		struct proxy p = {.refusal = rows[i].refusal};
		struct websocket *ws;
		struct error err;

		proxy_start(&p, "http_proxy");
		is_int(try_open(io, "ws://lake.test/ws", &ws, &err), -1, "a proxy that refuses");
		ok(err.kind == FAIL_TRANSPORT && strstr(err.text, rows[i].says), "%s", err.text);
		proxy_stop(&p, "http_proxy");
		io_free(io);
	}
}

static void test_loopback_goes_straight(void)
{
	struct io *io = client(NULL, false);
	struct proxy p = {.refusal = "HTTP/1.1 500 x\r\n\r\n"};
	struct websocket *ws;
	struct error err;
	char url[64];

	proxy_start(&p, "ALL_PROXY");
	snprintf(url, sizeof(url), "ws://localhost:%d/ws", echo.port);
	is_int(try_open(io, url, &ws, &err), 0, "loopback: no proxy is used: %s", err.text);
	ok(echo_works(ws, 10), "there and back");
	websocket_free(ws);
	proxy_stop(&p, "ALL_PROXY");
	is_str(p.request, "", "and the proxy got no request");
	io_free(io);
}

int main(void)
{
	static const char *const variables[] = {"http_proxy",  "https_proxy", "all_proxy",
	                                        "HTTPS_PROXY", "ALL_PROXY",   "no_proxy",
	                                        "NO_PROXY"};
	struct error err;
	const char *directory = getenv("TMPDIR");

	signal(SIGPIPE, SIG_IGN); /* libssl may write to a closed connection */
	for (size_t i = 0; i < ARRAY_LEN(variables); i++)
		unsetenv(variables[i]);
	snprintf(ca_file, sizeof(ca_file), "%.40s/rolldbg-ca.XXXXXX",
	         directory ? directory : "/tmp");
	int fd = mkstemp(ca_file);
	if (fd < 0 || io_global_init(&err) < 0)
		abort();
	close(fd);
	ca = tls_ca_new(ca_file);
	echo.listener = loopback_listen(&echo.port);
	if (pthread_create(&echo.thread, NULL, echo_serve, &echo) != 0)
		abort();
	test_trusted();
	test_untrusted();
	test_no_tls_there();
	test_proxy();
	test_trust_of_requests();
	test_tls_through_proxy();
	test_refusing_proxy();
	test_loopback_goes_straight();
	shutdown(echo.listener, SHUT_RDWR);
	pthread_join(echo.thread, NULL);
	close(echo.listener);
	tls_ca_free(&ca);
	unlink(ca_file);
	io_global_cleanup();
	return done();
}
