/* net/http and net/io against a misbehaving server: how often requests are sent, what is
   reported, and that nothing waits forever. */
#include "base/mem.h"
#include "misbehaving_server.h"
#include "net/http.h"
#include "tap.h"

#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/eventfd.h>

static struct misbehaving_server server;

/* The result of one exchange, and the form of the URL in messages. */
struct result {
	int rc, status;
	struct error err;
	struct buf body;
	unsigned repeats;
	bool sent;
	char media_type[64];
};

static const char *url_of(const char *path)
{
	static _Thread_local char url[4][256];
	static _Thread_local unsigned next;
	char *out = url[next++ % 4];

	snprintf(out, sizeof(url[0]), "http://127.0.0.1:%d%s", server.port, path);
	return out;
}

/* The text with HOST replaced by the server's host and port. */
static const char *with_host(const char *text)
{
	static char out[600];
	const char *host = strstr(text, "HOST");

	if (!host)
		return text;
	snprintf(out, sizeof(out), "%.*s127.0.0.1:%d%s", (int)(host - text), text, server.port,
	         host + 4);
	return out;
}

static struct io *io_make(int stop_fd)
{
	struct io_conf conf = {.clock = clock_real(), .stop_fd = stop_fd};
	struct io *io = NULL;
	struct error err;

	if (io_new(&conf, &io, &err) < 0)
		abort();
	return io;
}

static void exchange(struct io *io, const struct http_request *q, struct result *r)
{
	struct http_exchange *x = NULL;

	*r = (struct result){.body = BUF(BUF_MAX_MESSAGE)};
	r->rc = http_begin(io, q, &x, &r->err);
	if (r->rc < 0)
		return;
	r->rc = http_read_all(x, &r->body, &r->err);
	r->status = http_status(x);
	r->repeats = http_repeats(x);
	r->sent = http_was_sent(x);
	struct str type = http_media_type(x);
	snprintf(r->media_type, sizeof(r->media_type), "%.*s", STR_ARG(type));
	http_end(x);
}

static struct http_request post(const char *path)
{
	static const char *const headers[] = {"Content-Type: application/json", "X-None;"};

	return (struct http_request){.method = "POST",
	                             .url = url_of(path),
	                             .headers = headers,
	                             .header_count = ARRAY_LEN(headers),
	                             .body = STR("{\"n\":1}"),
	                             .timeout_ms = 20000};
}

static void test_requests(struct io *io)
{
	struct result r;
	struct http_request q = post("/echo?key=secret");

	exchange(io, &q, &r);
	const char *text = buf_cstr(&r.body);
	is_int(r.status, 200, "POST: status");
	ok(strncmp(text, "POST /echo?key=secret HTTP/1.1\r\n", 32) == 0, "POST: request line");
	ok(strstr(text, "\r\nContent-Length: 7\r\n") && strstr(text, "\r\n\r\n{\"n\":1}"),
	   "POST: body");
	ok(strstr(text, "\r\nContent-Type: application/json\r\n") &&
	           strstr(text, "\r\nX-None:\r\n"),
	   "POST: headers, an empty one too");
	ok(strstr(text, "\r\nUser-Agent: rolldbg\r\n") != NULL, "POST: user agent");
	ok(!strstr(text, "\r\nExpect:") && !strstr(text, "\r\nAccept-Encoding:"),
	   "POST: neither Expect nor Accept-Encoding");
	buf_release(&r.body);

	q.headers = NULL;
	q.header_count = 0;
	exchange(io, &q, &r);
	ok(!strstr(buf_cstr(&r.body), "\r\nContent-Type:"), "no content type unless given");
	buf_release(&r.body);

	const size_t large = (size_t)2 << 20;
	char *spaces = mem_new(large);
	memset(spaces, ' ', large);
	q.body = (struct str){spaces, large};
	exchange(io, &q, &r);
	ok(strstr(buf_cstr(&r.body), "\r\nContent-Length: 2097152\r\n") &&
	           !strstr(buf_cstr(&r.body), "\r\nExpect:"),
	   "a large body: no Expect either");
	buf_release(&r.body);
	free(spaces);

	static const struct {
		const char *method, *begin, *end;
		struct str body;
	} rows[] = {
		{"GET", "GET /echo HTTP/1.1\r\n", "\r\n\r\n", {NULL, 0}},
		{"DELETE", "DELETE /echo HTTP/1.1\r\n", "\r\n\r\n", {NULL, 0}},
		{"PUT", "PUT /echo HTTP/1.1\r\n", "\r\n\r\nabc", STR_INIT("abc")},
		{"POST", "POST /echo HTTP/1.1\r\n", "\r\n\r\n", {NULL, 0}},
		{"GET", "GET /echo HTTP/1.1\r\n", "\r\n\r\n", {NULL, 0}},
	};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		q = (struct http_request){
			.method = rows[i].method, .url = url_of("/echo"), .body = rows[i].body};
		exchange(io, &q, &r);
		ok(str_starts(buf_view(&r.body), str_from(rows[i].begin)) &&
		           str_ends(buf_view(&r.body), str_from(rows[i].end)),
		   "%s on a handle used for a different method", rows[i].method);
		buf_release(&r.body);
	}
}

/* A handle keeps its headers for requests like the one before: these differ, then they do not, over
   more URLs than handles are kept for. */
static void test_kept_headers(struct io *io)
{
	static const char *const rows[] = {"X-One: 1", "X-One: 1", "X-Two: 2", "User-Agent: me",
	                                   "X-One: 1", NULL,       NULL};
	static const char *const paths[] = {"/echo?a", "/echo?b", "/echo?c",
	                                    "/echo?d", "/echo?e", "/echo?f"};
	struct result r;

	for (size_t i = 0; i < ARRAY_LEN(rows) * ARRAY_LEN(paths); i++) {
		const char *header = rows[i / ARRAY_LEN(paths)];
		const char *path = paths[i % ARRAY_LEN(paths)];
		bool own = header && strncmp(header, "User-Agent", 10) == 0;
		AUTO_BUF want = BUF(256);
		struct http_request q = {.method = "GET",
		                         .url = url_of(path),
		                         .headers = &header,
		                         .header_count = header != NULL};

		exchange(io, &q, &r);
		buf_printf(&want, "GET %s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nAccept: */*\r\n", path,
		           server.port);
		if (header)
			buf_printf(&want, "%s\r\n", header);
		buf_text(&want, own ? "\r\n" : "User-Agent: rolldbg\r\n\r\n");
		is_str(buf_cstr(&r.body), buf_cstr(&want), "%s with %s", path,
		       header ? header : "no header");
		buf_release(&r.body);
	}
}

static void test_large_body(struct io *io)
{
	struct buf body = BUF(BUF_MAX_MESSAGE);

	for (int i = 0; i < 20000; i++)
		buf_text(&body, "0123456789");
	struct http_request q = post("/echo");
	struct result r;
	q.body = buf_view(&body);
	exchange(io, &q, &r);
	ok(str_ends(buf_view(&r.body), buf_view(&body)), "a body of 200 kB arrives completely");
	buf_release(&r.body);
	buf_release(&body);
}

/* HOST is replaced by the server's; executed: the number of requests the server has read.
   */
static const struct {
	const char *path;
	int rc, status;
	const char *body_or_error;
	enum fail kind;
	bool follow;
	int executed;
} replies[] = {
	{"/ok", 0, 200, "ok", FAIL_NONE, false, 1},
	{"/old", 0, 200, "until the end", FAIL_NONE, false, 1},
	{"/empty", 0, 202, "", FAIL_NONE, false, 1},
	{"/none", 0, 204, "", FAIL_NONE, false, 1},
	{"/500", 0, 500, "oops", FAIL_NONE, false, 1},
	{"/interim", 0, 200, "ok", FAIL_NONE, false, 1},
	{"/interim-only", -1, 0,
         "HOST sent interim replies (HTTP 102) to POST /interim-only, but no final one",
         FAIL_TRANSPORT, false, 1},
	{"/interim-flood", -1, 0,
         "HOST sent interim replies (HTTP 103) to POST /interim-flood, but no final one",
         FAIL_TRANSPORT, false, 1},
	{"/gzip", -1, 200,
         "HOST replied to POST /gzip with Content-Encoding gzip, which was not requested: turn compression off in the server or its proxy",
         FAIL_PROTOCOL, false, 1},
	{"/identity", 0, 200, "ok", FAIL_NONE, false, 1},
	{"/charset", 0, 200, "ok", FAIL_NONE, false, 1},
	{"/nowhere", 0, 404, "", FAIL_NONE, false, 1},
	{"/302", 0, 302, "gone", FAIL_NONE, true, 1},
	{"/307", 0, 307, "gone", FAIL_NONE, false, 1},
	{"/307-away", 0, 307, "away", FAIL_NONE, true, 1},
	{"/307-lost", 0, 307, "lost", FAIL_NONE, true, 1},
	{"/307-loop", -1, 307, "HOST redirected POST more than 5 times", FAIL_PROTOCOL, true, 6},
	{"/drop", -1, 0, "HOST closed the connection before replying to POST /drop", FAIL_TRANSPORT,
         false, 1},
	{"/reset", -1, 0, "no response from HOST to POST /reset: connection reset by peer",
         FAIL_TRANSPORT, false, 1},
	{"/cut-head", -1, 0,
         "HOST closed the connection in the middle of the response headers to POST /cut-head",
         FAIL_TRANSPORT, false, 1},
	{"/cut-body", -1, 200,
         "HOST closed the connection in the middle of its response to POST /cut-body, after 4 "
         "bytes",
         FAIL_TRANSPORT, false, 1},
	{"/cut-chunk", -1, 200,
         "HOST closed the connection in the middle of its response to POST /cut-chunk, after "
         "4 bytes",
         FAIL_TRANSPORT, false, 1},
	{"/cut-between", -1, 200,
         "HOST closed the connection in the middle of its response to POST /cut-between, "
         "after 4 bytes",
         FAIL_TRANSPORT, false, 1},
	{"/reset-body", -1, 200,
         "the response of HOST to POST /reset-body was cut off: connection reset by peer",
         FAIL_TRANSPORT, false, 1},
	{"/garbage", -1, 0, "HOST replied to POST /garbage with something other than HTTP",
         FAIL_PROTOCOL, false, 1},
	{"/big-head", -1, 0, "HOST replied to POST /big-head with headers over 64 KiB",
         FAIL_PROTOCOL, false, 1},
};

/* Runs every row on its own io. */
static void test_replies(void)
{
	for (size_t i = 0; i < ARRAY_LEN(replies); i++) {
		struct io *io = io_make(-1);
		struct http_request q = post(replies[i].path);
		struct result r;

		q.follow = replies[i].follow;
		misbehaving_reset_counts(&server);
		exchange(io, &q, &r);
		const char *got = replies[i].rc == 0 ? buf_cstr(&r.body) : r.err.text;
		ok(r.rc == replies[i].rc && (r.rc == 0 || r.err.kind == replies[i].kind) && r.sent,
		   "%s: kind of result", replies[i].path);
		is_str(got, with_host(replies[i].body_or_error), "%s: text", replies[i].path);
		is_int(r.status, replies[i].status, "%s: status", replies[i].path);
		is_int(misbehaving_read(&server, &server.executed), replies[i].executed,
		       "%s: executed", replies[i].path);
		buf_release(&r.body);
		io_free(io);
	}
}

static void test_broken_chunk(struct io *io)
{
	struct http_request q = post("/bad-chunk");
	struct http_exchange *x;
	struct error err;
	struct str piece;

	if (!is_int(http_begin(io, &q, &x, &err), 0, "bad chunk: begins"))
		return;
	is_int(http_read(x, &piece, &err), 1, "bad chunk: the bytes before it are delivered");
	ok(str_is(piece, "half"), "bad chunk: all of them");
	is_int(http_read(x, &piece, &err), -1, "bad chunk: then the failure");
	is_int(err.kind, FAIL_TRANSPORT, "bad chunk: kind");
	ok(strstr(err.text, with_host("the response of HOST to POST /bad-chunk was cut off: ")) !=
	           NULL,
	   "bad chunk: %s", err.text);
	http_end(x);
}

static void test_timeouts(struct io *io)
{
	static const struct {
		const char *path, *text;
		uint64_t timeout_ms;
	} rows[] = {
		{"/hang?key=secret", "no response from HOST within 50ms (POST /hang)", 50},
		{"/half-head", "no response from HOST within 50ms (POST /half-head)", 50},
		{"/half-body", "the response of HOST did not end within 1s (POST /half-body)",
	         1000},
		{"/307-hang", "no response from HOST within 1s (POST /ok)", 1000},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct http_request q = post(rows[i].path);
		struct result r;

		q.timeout_ms = rows[i].timeout_ms;
		q.follow = true;
		exchange(io, &q, &r);
		is_int(r.err.kind, FAIL_TIMEOUT, "%s: kind", rows[i].path);
		is_str(r.err.text, with_host(rows[i].text), "%s: text", rows[i].path);
		ok(r.sent, "%s: was sent", rows[i].path);
		buf_release(&r.body);
	}
	misbehaving_wait_open(&server, 1);
	ok(true, "a timed-out exchange is cancelled");
}

static void test_unreachable(struct io *io)
{
	uint16_t port;

	close(loopback_listen(&port));
	char url[128], wanted[128];
	struct http_request q = {.method = "POST", .url = url, .body = STR("{}")};
	struct result r;
	snprintf(url, sizeof(url), "http://127.0.0.1:%d/mcp", port);
	snprintf(wanted, sizeof(wanted), "cannot connect to 127.0.0.1:%d: connection refused",
	         port);
	exchange(io, &q, &r);
	is_int(r.err.kind, FAIL_TRANSPORT, "refused: kind");
	is_str(r.err.text, wanted, "refused: text");
	ok(!r.sent, "refused: nothing was sent");
	buf_release(&r.body);

	/* A label of 64 letters is not a host name: it fails without a DNS query. */
	static const char label[] =
		"a123456789b123456789c123456789d123456789e123456789f1234567890123";
	snprintf(url, sizeof(url), "http://%s/mcp", label);
	snprintf(wanted, sizeof(wanted), "cannot resolve %s", label);
	unsetenv("http_proxy");
	exchange(io, &q, &r);
	is_str(r.err.text, wanted, "no such host: text");
	ok(!r.sent && r.err.kind == FAIL_TRANSPORT, "no such host: kind");
	buf_release(&r.body);

	snprintf(url, sizeof(url), "https://127.0.0.1:%d/garbage", server.port);
	q.timeout_ms = 20000;
	exchange(io, &q, &r);
	ok(r.err.kind == FAIL_TRANSPORT && str_starts(str_from(r.err.text), STR("TLS: ")), "%s",
	   r.err.text);
	buf_release(&r.body);
}

static void test_bad_requests(struct io *io)
{
	static const char *const urls[] = {"",
	                                   "ftp://127.0.0.1/",
	                                   "file:///etc/passwd",
	                                   "127.0.0.1:1",
	                                   "http://",
	                                   "http://a b/",
	                                   "/mcp"};
	struct result r;

	for (size_t i = 0; i < ARRAY_LEN(urls); i++) {
		struct http_request q = {.method = "GET", .url = urls[i]};

		exchange(io, &q, &r);
		is_int(r.rc < 0 ? r.err.kind : FAIL_NONE, FAIL_USAGE, "'%s' is not a URL", urls[i]);
	}
	static const char *const headers[] = {"X-A: b\r\nX-B: c", "no colon", ": no name", "X:\n"};
	for (size_t i = 0; i < ARRAY_LEN(headers); i++) {
		struct http_request q = post("/ok");

		q.headers = &headers[i];
		q.header_count = 1;
		exchange(io, &q, &r);
		is_int(r.rc < 0 ? r.err.kind : FAIL_NONE, FAIL_USAGE, "header %zu is none", i);
	}
}

static void test_headers(struct io *io)
{
	struct http_request q = post("/headers");
	struct http_exchange *x;
	struct error err;
	struct str piece;

	if (!is_int(http_begin(io, &q, &x, &err), 0, "headers: begins"))
		return;
	is_int(http_wait_headers(x, &err), 0, "headers arrive");
	while (http_read(x, &piece, &err) > 0)
		continue;
	ok(str_is(http_header(x, "X-TWO"), "last one"), "the last of several, in any case");
	ok(http_header(x, "x-empty").p && http_header(x, "x-empty").n == 0, "an empty one");
	ok(!http_header(x, "X-Tw").p && !http_header(x, "X-Early").p, "none");
	ok(str_is(http_media_type(x), "Text/HTML"), "media type without its parameters");
	http_end(x);
}

static void test_redirects(struct io *io)
{
	static const char *const paths[] = {"/307", "/308"};

	for (size_t i = 0; i < ARRAY_LEN(paths); i++) {
		struct http_request q = post(paths[i]);
		struct http_exchange *x;
		struct error err;
		struct buf body = BUF(BUF_MAX_MESSAGE);

		q.follow = true;
		misbehaving_reset_counts(&server);
		if (http_begin(io, &q, &x, &err) < 0 || http_read_all(x, &body, &err) < 0)
			abort();
		ok(str_starts(buf_view(&body), STR("POST /echo ")) &&
		           str_ends(buf_view(&body), STR("{\"n\":1}")),
		   "%s: followed with method and body", paths[i]);
		is_str(http_url(x), url_of("/echo"), "%s: the final URL is reported", paths[i]);
		is_int(http_repeats(x), 0, "%s: no repeat", paths[i]);
		is_int(misbehaving_read(&server, &server.executed), 2, "%s: two requests",
		       paths[i]);
		http_end(x);
		buf_clear(&body);
		q.url = url_of("/ok");
		if (http_begin(io, &q, &x, &err) < 0 || http_read_all(x, &body, &err) < 0)
			abort();
		is_str(buf_cstr(&body), "ok", "%s: the next request goes to the target", paths[i]);
		http_end(x);
		buf_release(&body);
	}
}

/* The first request opens a connection that is kept; on the second one the connection
   closes before the first byte of a reply. */
static void test_dropped_connections(void)
{
	static const struct {
		const char *path;
		bool may_repeat;
		int rc, executed, repeats;
	} rows[] = {
		{"/second-drop", false, -1, 2, 0},
		{"/second-reset", false, -1, 2, 0},
		{"/second-drop", true, 0, 3, 1},
		{"/second-reset", true, 0, 3, 1},
	};
	static const struct str bodies[] = {STR_INIT("{\"n\":1}"), {NULL, 0}};

	for (size_t i = 0; i < ARRAY_LEN(rows) * 2; i++) {
		struct io *io = io_make(-1);
		struct http_request q = post(rows[i / 2].path);
		struct result r;

		q.body = bodies[i % 2];
		q.method = i % 2 ? "GET" : "POST";
		q.may_repeat = rows[i / 2].may_repeat;
		misbehaving_reset_counts(&server);
		exchange(io, &q, &r);
		buf_release(&r.body);
		exchange(io, &q, &r);
		is_int(r.rc, rows[i / 2].rc, "%s %s%s: result", q.method, rows[i / 2].path,
		       q.may_repeat ? ", may repeat" : "");
		is_int(misbehaving_read(&server, &server.executed), rows[i / 2].executed,
		       "  executed");
		is_int(r.repeats, rows[i / 2].repeats, "  repeats");
		ok(r.sent && (r.rc == 0 || r.err.kind == FAIL_TRANSPORT), "  was sent");
		buf_release(&r.body);
		io_free(io);
	}
}

static void test_connections(void)
{
	static const struct {
		const char *first, *second, *name;
		bool fresh;
		int connections;
	} rows[] = {
		{"/ok", "/ok", "reused", false, 1},
		{"/ok", "/ok", "fresh when asked for", true, 2},
		{"/500", "/ok", "not reused after a 5xx", false, 2},
		{"/ok-then-drop", "/ok", "not reused when it was closed meanwhile", false, 2},
		{"/500", "/500", "not reused after a 5xx, same URL", false, 2},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct io *io = io_make(-1);
		struct http_request q = post(rows[i].first);
		struct result r;

		misbehaving_wait_open(&server, 0);
		misbehaving_reset_counts(&server);
		exchange(io, &q, &r);
		buf_release(&r.body);
		if (strcmp(rows[i].first, "/ok") != 0)
			misbehaving_wait_open(&server, 0);
		q.url = url_of(rows[i].second);
		q.fresh_connection = rows[i].fresh;
		exchange(io, &q, &r);
		is_int(r.rc, 0, "%s: second answer", rows[i].name);
		is_int(misbehaving_read(&server, &server.connections), rows[i].connections,
		       "  connections");
		is_int(misbehaving_read(&server, &server.executed), 2, "  executed");
		buf_release(&r.body);
		io_free(io);
	}
}

static void test_two_at_once(struct io *io)
{
	struct http_request stream = post("/stream"), other = post("/release");
	struct http_exchange *x;
	struct error err;
	struct str piece;
	struct result r;

	if (!is_int(http_begin(io, &stream, &x, &err), 0, "stream: begins"))
		return;
	is_int(http_read(x, &piece, &err), 1, "stream: first piece");
	ok(str_is(http_media_type(x), "text/event-stream"), "stream: media type");
	exchange(io, &other, &r);
	is_str(buf_cstr(&r.body), "ok", "a second exchange completes meanwhile");
	ok(str_is(piece, "data: 1\n"), "and the first piece is still there");
	is_int(http_read(x, &piece, &err), 1, "stream: second piece");
	ok(str_is(piece, "data: 2\n"), "stream: its bytes");
	is_int(http_read(x, &piece, &err), 0, "stream: the end");
	is_int(http_read(x, &piece, &err), 0, "stream: still the end");
	http_end(x);
	buf_release(&r.body);
}

static void test_leave(void)
{
	struct io *io = io_make(-1);
	struct http_request q = post("/stream");
	struct http_exchange *x;
	struct error err;
	struct str piece;
	struct result r;

	misbehaving_wait_open(&server, 0);
	misbehaving_reset_counts(&server);
	server.streamed = false; /* no open connection */
	if (http_begin(io, &q, &x, &err) < 0 || http_read(x, &piece, &err) < 0)
		abort();
	http_drain(x);
	misbehaving_go(&server);
	misbehaving_wait_streamed(&server);
	q = post("/ok");
	exchange(io, &q, &r);
	is_str(buf_cstr(&r.body), "ok", "the next request after a reply was left");
	is_int(misbehaving_read(&server, &server.connections), 1, "takes the same connection");
	buf_release(&r.body);
	io_free(io);
	misbehaving_wait_open(&server, 0);
	ok(true, "and closed with the io");

	io = io_make(-1);
	q = post("/half-body");
	if (http_begin(io, &q, &x, &err) < 0 || http_read(x, &piece, &err) < 0)
		abort();
	http_drain(x);
	io_free(io);
	misbehaving_wait_open(&server, 0);
	ok(true, "an endless reply that was abandoned ends with the io");
}

static void test_caps(struct io *io)
{
	static const char *const paths[] = {"/big", "/headers"};

	for (size_t i = 0; i < ARRAY_LEN(paths); i++) {
		struct http_request q = post(paths[i]);
		struct result r;
		char wanted[128];

		q.max_bytes = 1;
		snprintf(wanted, sizeof(wanted),
		         "the response of 127.0.0.1:%d to POST %s is larger than 1 bytes",
		         server.port, paths[i]);
		exchange(io, &q, &r);
		is_int(r.err.kind, FAIL_PROTOCOL, "%s: too large", paths[i]);
		is_str(r.err.text, wanted, "%s: text", paths[i]);
		buf_release(&r.body);
	}
	struct http_request q = post("/big");
	struct http_exchange *x;
	struct error err;
	struct buf small = BUF(100);
	if (http_begin(io, &q, &x, &err) < 0)
		abort();
	ok(http_read_all(x, &small, &err) < 0 && err.kind == FAIL_PROTOCOL, "the reader's own cap");
	http_end(x);
	buf_release(&small);
}

/* 8 MiB that are not read at first: that peer has to wait, other exchanges do not. */
static void test_back_pressure(struct io *io)
{
	struct http_request big = post("/big"), q = post("/ok");
	struct http_exchange *x;
	struct error err;
	struct str piece;
	struct result r;
	size_t total = 0, wrong = 0, largest = 0;

	if (http_begin(io, &big, &x, &err) < 0)
		abort();
	for (int i = 0; i < 500; i++) {
		exchange(io, &q, &r);
		buf_release(&r.body);
	}
	while (http_read(x, &piece, &err) > 0) {
		largest = piece.n > largest ? piece.n : largest;
		for (size_t i = 0; i < piece.n; i++, total++)
			wrong += piece.p[i] != (char)('a' + total / 4096 % 26);
	}
	is_int(total, 8388608, "8 MiB arrive");
	is_int(wrong, 0, "in order");
	ok(largest <= (size_t)2 << 20, "and never more than 2 MiB wait (%zu)", largest);
	http_end(x);
}

static void test_interrupt(void)
{
	int stop = eventfd(0, EFD_CLOEXEC);
	struct io *io = io_make(stop);
	struct http_request q = post("/signal");
	struct http_exchange *x;
	struct error err;
	struct result r;

	server.signal_fd = stop;
	ok(!io_stopped(io), "not stopped yet");
	exchange(io, &q, &r);
	is_int(r.err.kind, FAIL_INTERRUPTED, "a wait ends when stopped");
	ok(r.sent && io_stopped(io), "stopped");
	buf_release(&r.body);
	misbehaving_reset_counts(&server);
	is_int(http_begin(io, &q, &x, &err), -1, "and no new exchange begins");
	is_int(err.kind, FAIL_INTERRUPTED, "for that reason");
	is_int(io_wait(io, NULL, 0, &err), -1, "nor does io_wait wait");
	is_int(misbehaving_read(&server, &server.executed), 0, "nothing was sent");
	io_ignore_stop(io);
	q = (struct http_request){.method = "DELETE", .url = url_of("/ok")};
	exchange(io, &q, &r);
	is_str(buf_cstr(&r.body), "ok", "the goodbye is still possible");
	buf_release(&r.body);
	io_free(io);
	misbehaving_wait_open(&server, 0); /* the connection that wrote to it is finished */
	close(stop);
}

struct watched {
	struct io *io;
	int calls;
	bool hung_up, fail;
};

static int on_ready(void *arg, int fd, short ready, struct error *err)
{
	struct watched *w = arg;
	char bytes[64];

	w->calls++;
	if (w->fail)
		return error_set(err, FAIL_SYSTEM, "enough");
	if ((ready & POLLIN) && read(fd, bytes, sizeof(bytes)) > 0) {
		misbehaving_go(&server);
		return 0;
	}
	w->hung_up = true;
	io_watch(w->io, fd, 0, NULL, NULL);
	return 0;
}

static void test_watches(void)
{
	struct io *io = io_make(-1);
	int fd[2];

	if (pipe(fd) < 0)
		abort();
	struct watched w = {.io = io};
	struct error err;
	struct http_request q = post("/signal-and-wait");
	struct result r;
	io_watch(io, fd[0], POLLIN, on_ready, &w);
	is_int(io_wait(io, NULL, 0, &err), 0, "ready at once: no wait");
	is_int(io_wait(io, &w.hung_up, 1, &err), -1, "a condition that never becomes true");
	is_int(err.kind, FAIL_TIMEOUT, "is a timeout");
	server.signal_fd = fd[1];
	exchange(io, &q, &r);
	is_str(buf_cstr(&r.body), "ok", "an answer that waits for a watched descriptor");
	is_int(w.calls, 1, "which is served meanwhile");
	buf_release(&r.body);

	w.fail = true;
	q.url = url_of("/signal");
	exchange(io, &q, &r);
	buf_release(&r.body);
	is_str(r.err.text, "enough", "its failure ends the wait");
	w.fail = false;
	is_int(io_wait(io, NULL, 1, &err), 0, "the pending byte is read");
	close(fd[1]);
	is_int(io_wait(io, &w.hung_up, UINT64_MAX, &err), 0, "a closed connection is reported");
	close(fd[0]);
	io_free(io);
}

struct tended {
	struct io *io;
	int calls, did; /* did: its reply from now on */
	uint64_t wake_ns;
	bool called; /* ends that call's wait */
};

static int on_idle(void *arg, uint64_t *wake_ns, struct error *err)
{
	struct tended *t = arg;
	struct error within;
	bool never = false;

	t->calls++;
	t->called = t->calls > 1;
	if (t->did < 0)
		return error_set(err, FAIL_SYSTEM, "enough");
	if (t->wake_ns && t->wake_ns < *wake_ns)
		*wake_ns = t->wake_ns;
	int rc = io_wait(t->io, &never, 0, &within);
	ok(rc < 0 && within.kind == FAIL_TIMEOUT, "it may wait itself");
	return t->did;
}

static void test_idle(void)
{
	struct io *io = io_make(-1);
	struct tended t = {.io = io}, gone = {.io = io};
	struct error err;

	io_set_idle(io, on_idle, &gone);
	io_set_idle(io, on_idle, &t);
	io_unset_idle(io, &gone);
	is_int(io_wait(io, NULL, 0, &err), 0, "a wait");
	is_int(t.calls, 1, "is when it is called, and not within itself");
	t = (struct tended){.io = io, .wake_ns = io_now_ns(io) + 2000000};
	is_int(io_wait(io, &t.called, UINT64_MAX, &err), 0, "it is called again when requested");
	ok(io_now_ns(io) >= t.wake_ns, "not before");
	t = (struct tended){.io = io, .did = 1};
	is_int(io_wait(io, &t.called, UINT64_MAX, &err), 0,
	       "no wait after progress, which may be what the caller waits for");
	t = (struct tended){.io = io, .did = -1};
	is_int(io_wait(io, NULL, UINT64_MAX, &err), -1, "its failure ends the wait");
	is_str(err.text, "enough", "and is reported");
	is_int(gone.calls, 0, "one that has left is not called");
	io_free(io);
}

static void test_proxy(void)
{
	char proxy[64];

	snprintf(proxy, sizeof(proxy), "http://127.0.0.1:%d", server.port);
	setenv("http_proxy", proxy, 1);
	struct io *io = io_make(-1);
	struct http_request q = {.method = "GET", .url = "http://far.invalid/echo"};
	struct result r;
	exchange(io, &q, &r);
	ok(str_starts(buf_view(&r.body), STR("GET http://far.invalid/echo ")),
	   "others by the proxy");
	buf_release(&r.body);
	q.url = url_of("/echo");
	exchange(io, &q, &r);
	ok(str_starts(buf_view(&r.body), STR("GET /echo ")), "loopback never");
	buf_release(&r.body);
	unsetenv("http_proxy");
	io_free(io);
}

static void *use_own_io(void *arg)
{
	int *good = arg;
	struct io *io = io_make(-1);

	for (int i = 0; i < 20; i++) {
		struct http_request q = post("/ok");
		struct result r;

		exchange(io, &q, &r);
		*good += str_is(buf_view(&r.body), "ok");
		buf_release(&r.body);
	}
	io_free(io);
	return NULL;
}

static void test_threads(void)
{
	pthread_t threads[4];
	int good[ARRAY_LEN(threads)] = {0}, all = 0;

	for (size_t i = 0; i < ARRAY_LEN(threads); i++)
		if (pthread_create(&threads[i], NULL, use_own_io, &good[i]) != 0)
			abort();
	for (size_t i = 0; i < ARRAY_LEN(threads); i++) {
		pthread_join(threads[i], NULL);
		all += good[i];
	}
	is_int(all, 20 * (int)ARRAY_LEN(threads), "an io for each thread");
}

int main(void)
{
	struct error err;

	signal(SIGPIPE, SIG_IGN);
	if (io_global_init(&err) < 0)
		return 1;
	misbehaving_start(&server);
	struct io *io = io_make(-1);
	test_requests(io);
	test_kept_headers(io);
	test_large_body(io);
	test_headers(io);
	test_broken_chunk(io);
	test_timeouts(io);
	test_unreachable(io);
	test_bad_requests(io);
	test_redirects(io);
	test_two_at_once(io);
	test_caps(io);
	test_back_pressure(io);
	io_free(io);
	test_replies();
	test_dropped_connections();
	test_connections();
	test_leave();
	test_interrupt();
	test_watches();
	test_idle();
	test_proxy();
	test_threads();
	misbehaving_stop(&server);
	io_global_cleanup();
	return done();
}
