/* A WebSocket client: see websocket.h. */
#include "net/websocket.h"

#include "base/mem.h"
#include "base/rng.h"
#include "base/text.h"
#include "net/websocket_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

/* Bytes of one read, and reads in a row, so that a waiting call can check its deadline. */
#define PIECE     ((size_t)4 << 10)
#define READS_MAX 16

enum { CODE_NORMAL = 1000, CODE_BAD_TEXT = 1007, CODE_TOO_LARGE = 1009 };

static void end_with(struct websocket *ws, enum websocket_end end, const char *why)
{
	if (ws->end == WEBSOCKET_OPEN) {
		ws->end = end;
		buf_str(&ws->why, buf_view(&ws->target.place));
		buf_char(&ws->why, ' ');
		buf_text(&ws->why, why);
	}
}

static bool inbox_full(const struct websocket *ws)
{
	return ws->frames.count >= INBOX_MAX || ws->frames.bytes > ws->max_bytes;
}

static bool must_wait(const struct websocket *ws)
{
	return inbox_full(ws) || ws->frames.out.n > ws->messages + PONGS_MAX;
}

/* ---- rounds of reading and sending ---- */

static void flush(struct websocket *ws)
{
	struct buf *out = &ws->frames.out;
	size_t at = 0, n = 0;

	while (at < out->n) {
		CURLcode rc = ws->transmit(ws, out->p + at, out->n - at, &n);

		if (rc == CURLE_AGAIN)
			break;
		if (rc != CURLE_OK) {
			end_with(ws, WEBSOCKET_LOST, "closed the connection");
			at = out->n;
			break;
		}
		at += n;
	}
	buf_drop(out, at);
	ws->messages -= ws->messages < at ? ws->messages : at;
}

static void feed(struct websocket *ws, struct str bytes)
{
	const struct frames *f = &ws->frames;
	char why[200];

	frames_feed(&ws->frames, bytes);
	if (f->end == FRAMES_OPEN)
		return;
	ws->code = f->code;
	if (f->end == FRAMES_CLOSED) {
		snprintf(why, sizeof(why), "closed the WebSocket: %d%s%s", f->code,
		         f->reason.n ? " " : "", buf_cstr(&f->reason));
		end_with(ws, WEBSOCKET_CLOSED, why);
		return;
	}
	end_with(ws, WEBSOCKET_BROKEN,
	         f->code == CODE_TOO_LARGE  ? "sent a message over the limit"
	         : f->code == CODE_BAD_TEXT ? "sent text that is not UTF-8"
	                                    : "sent frames that violate RFC 6455");
}

/* False: nothing more can be read now. */
static bool read_once(struct websocket *ws)
{
	char bytes[PIECE];
	size_t n = 0;
	CURLcode rc = ws->receive(ws, bytes, sizeof(bytes), &n);

	if (rc == CURLE_AGAIN)
		return false;
	if (rc != CURLE_OK || n == 0) {
		end_with(ws, WEBSOCKET_LOST, "closed the connection without a Close frame");
		return false;
	}
	feed(ws, (struct str){bytes, n});
	/* the TLS library may hold more than the socket does */
	return n == sizeof(bytes) || ws->tls;
}

static int on_ready(void *arg, int fd, short ready, struct error *err);

static void watch(struct websocket *ws)
{
	bool open = ws->end == WEBSOCKET_OPEN;
	short want = 0;

	if (open)
		want = (short)((must_wait(ws) ? 0 : POLLIN) | (ws->frames.out.n ? POLLOUT : 0));
	if (want != ws->watched) {
		io_watch(ws->io, ws->fd, want, on_ready, ws);
		ws->watched = want;
	}
}

void websocket_serve(struct websocket *ws)
{
	bool waited = must_wait(ws), readable = true;
	int reads = 0;

	while (readable && ws->end == WEBSOCKET_OPEN && !must_wait(ws) && reads++ < READS_MAX)
		readable = read_once(ws);
	ws->more = (readable && reads > READS_MAX) || (waited && !must_wait(ws));
	if (ws->frames.out.n)
		flush(ws);
	watch(ws);
}

static int on_ready(void *arg, int fd, short ready, struct error *err)
{
	(void)fd, (void)ready, (void)err;
	websocket_serve(arg);
	return 0;
}

/* ---- the end ---- */

void websocket_free(struct websocket *ws)
{
	if (!ws)
		return;
	if (ws->watched)
		io_watch(ws->io, ws->fd, 0, NULL, NULL);
	frames_release(&ws->frames);
	frame_message_free(ws->taken);
	if (ws->started)
		io_drop(ws->io, &ws->transfer);
	curl_easy_cleanup(ws->transfer.easy);
	if (ws->ours)
		close(ws->fd);
	handshake_release(&ws->handshake);
	target_release(&ws->target);
	free(ws->curl_why);
	buf_release(&ws->why);
	free(ws);
}

void websocket_close(struct websocket *ws, uint64_t timeout_ms)
{
	struct websocket_message unread;
	struct error ignored = {0};
	uint64_t deadline_ns = io_deadline_ns(ws->io, timeout_ms);

	if (ws->end != WEBSOCKET_OPEN)
		return;
	frames_close(&ws->frames, CODE_NORMAL, NULL);
	websocket_serve(ws);
	/* later messages are discarded */
	for (int got = 1; got > 0;) {
		uint64_t left = io_left_ms(ws->io, deadline_ns);

		got = websocket_receive(ws, &unread, left, &ignored);
		got = left ? got : 0;
	}
}

/* ---- messages ---- */

static void send_queued(struct websocket *ws)
{
	ws->messages = ws->frames.out.n;
	flush(ws);
	watch(ws);
}

void websocket_send(struct websocket *ws, struct str text)
{
	if (ws->end == WEBSOCKET_OPEN) {
		frames_send(&ws->frames, text);
		send_queued(ws);
	}
}

void websocket_send_both(struct websocket *ws, struct str first, struct str second)
{
	if (ws->end == WEBSOCKET_OPEN) {
		frames_send(&ws->frames, first);
		frames_send(&ws->frames, second);
		send_queued(ws);
	}
}

bool websocket_has_message(struct websocket *ws)
{
	websocket_serve(ws);
	return ws->frames.first != NULL;
}

static int out_of_time(const struct websocket *ws, const char *what, struct error *err)
{
	return error_set(err, FAIL_TIMEOUT, "%s %s in time", buf_cstr(&ws->target.place), what);
}

static bool next_message(struct websocket *ws, struct websocket_message *out)
{
	bool was_full = inbox_full(ws);

	frame_message_free(ws->taken);
	ws->taken = frames_next(&ws->frames);
	if (!ws->taken)
		return false;
	*out = (struct websocket_message){buf_view(&ws->taken->bytes), ws->taken->binary};
	if (was_full)
		websocket_serve(ws); /* it is read again */
	return true;
}

int websocket_receive(struct websocket *ws, struct websocket_message *out, uint64_t timeout_ms,
                      struct error *err)
{
	uint64_t deadline_ns = io_deadline_ns(ws->io, timeout_ms);

	for (bool over = false;;) {
		if (next_message(ws, out))
			return 1;
		if (ws->end != WEBSOCKET_OPEN)
			return 0;
		if (over)
			return out_of_time(ws, "did not reply", err);
		bool more = ws->more;
		over = io_now_ns(ws->io) >= deadline_ns;
		if (io_turn(ws->io, more ? 0 : deadline_ns, err))
			return -1;
		if (more)
			websocket_serve(ws);
	}
}

enum websocket_end websocket_end(const struct websocket *ws)
{
	return ws->end;
}

const char *websocket_why(const struct websocket *ws)
{
	return buf_cstr(&ws->why);
}

int websocket_code(const struct websocket *ws)
{
	return ws->code;
}

bool websocket_got_page(const struct websocket *ws)
{
	return ws->page;
}

/* ---- transport ---- */

static CURLcode receive_by_curl(struct websocket *ws, void *to, size_t room, size_t *n)
{
	return curl_easy_recv(ws->transfer.easy, to, room, n);
}

static CURLcode transmit_by_curl(struct websocket *ws, const void *bytes, size_t n, size_t *sent)
{
	return curl_easy_send(ws->transfer.easy, bytes, n, sent);
}

static CURLcode receive_direct(struct websocket *ws, void *to, size_t room, size_t *n)
{
	ssize_t got = recv(ws->fd, to, room, 0);

	*n = got > 0 ? (size_t)got : 0;
	return got >= 0 ? CURLE_OK : errno == EAGAIN ? CURLE_AGAIN : CURLE_RECV_ERROR;
}

static CURLcode transmit_direct(struct websocket *ws, const void *bytes, size_t n, size_t *sent)
{
	ssize_t written = send(ws->fd, bytes, n, MSG_NOSIGNAL);

	*sent = written > 0 ? (size_t)written : 0;
	return written >= 0 ? CURLE_OK : errno == EAGAIN ? CURLE_AGAIN : CURLE_SEND_ERROR;
}

/* ---- the connection ---- */

static void set_options(struct websocket *ws)
{
	CURL *e = ws->transfer.easy;

	target_connect_only(&ws->target, e, ws->io->ca_file, ws->io->insecure, ws->curl_why);
	curl_easy_setopt(e, CURLOPT_PRIVATE, ws);
	curl_easy_setopt(e, CURLOPT_QUICK_EXIT, 1L);
	curl_easy_setopt(e, CURLOPT_PROTOCOLS_STR, "http,https");
	curl_easy_setopt(e, CURLOPT_USERAGENT, ws->io->user_agent);
	curl_easy_setopt(e, CURLOPT_BUFFERSIZE, 1024L); /* bodies are discarded */
}

/* After connecting, libcurl is needed only if it encrypts, to the server or to a proxy; its
   handles need more memory than the rest of an idle session. */
static int move_to_own_socket(struct websocket *ws, struct error *err)
{
	long tunnel = 0;

	curl_easy_getinfo(ws->transfer.easy, CURLINFO_HTTP_CONNECTCODE, &tunnel);
	if (ws->tls || tunnel)
		return 0;
	ws->fd = fcntl(ws->fd, F_DUPFD_CLOEXEC, 0);
	if (ws->fd < 0)
		return error_errno(err, "cannot duplicate the socket");
	ws->ours = true;
	ws->receive = receive_direct;
	ws->transmit = transmit_direct;
	io_drop(ws->io, &ws->transfer);
	curl_easy_cleanup(ws->transfer.easy);
	ws->transfer.easy = NULL;
	ws->started = false;
	free(ws->curl_why);
	ws->curl_why = NULL;
	return 0;
}

static int connect_socket(struct websocket *ws, uint64_t deadline_ns, struct error *err)
{
	const char *place = buf_cstr(&ws->target.place);

	if (io_start(ws->io, &ws->transfer, err))
		return -1;
	ws->started = true;
	while (!ws->transfer.done) {
		if (io_now_ns(ws->io) >= deadline_ns)
			return out_of_time(ws, "did not accept a connection", err);
		if (io_turn(ws->io, deadline_ns, err))
			return -1;
	}
	if (ws->transfer.result != CURLE_OK) {
		return io_explain_connecting(&ws->transfer, place, ws->curl_why, err)
		               ? -1
		               : error_set(err, FAIL_TRANSPORT, "cannot connect to %s: %s", place,
		                           ws->curl_why[0]
		                                   ? ws->curl_why
		                                   : curl_easy_strerror(ws->transfer.result));
	}
	io_keep_connection(ws->io, &ws->transfer);
	if (curl_easy_getinfo(ws->transfer.easy, CURLINFO_ACTIVESOCKET, &ws->fd) != CURLE_OK ||
	    ws->fd == CURL_SOCKET_BAD) {
		return error_set(err, FAIL_SYSTEM, "libcurl returned no socket for %s", place);
	}
	return move_to_own_socket(ws, err);
}

/* Reads one piece of the handshake's reply: returns 1 once the head is complete, 0 if more is
   needed. */
static int read_reply(struct websocket *ws, struct error *err)
{
	char bytes[1024];
	size_t n = 0;
	CURLcode rc = ws->receive(ws, bytes, sizeof(bytes), &n);

	if (rc == CURLE_AGAIN)
		return 0;
	if (rc != CURLE_OK || n == 0) {
		return error_set(err, FAIL_TRANSPORT,
		                 "%s closed the connection during the WebSocket handshake",
		                 buf_cstr(&ws->target.place));
	}
	int whole = handshake_feed(&ws->handshake, (struct str){bytes, n}, err);
	return whole < 0 ? error_wrap(err, "%s", buf_cstr(&ws->target.place)) : whole;
}

static int wake(void *arg, int fd, short ready, struct error *err)
{
	(void)arg, (void)fd, (void)ready, (void)err;
	return 0;
}

static int do_handshake(struct websocket *ws, uint64_t deadline_ns, struct error *err)
{
	int whole = 0;

	buf_str(&ws->frames.out, buf_view(&ws->handshake.request));
	flush(ws);
	while (!whole && ws->end == WEBSOCKET_OPEN) {
		io_watch(ws->io, ws->fd, (short)(POLLIN | (ws->frames.out.n ? POLLOUT : 0)), wake,
		         NULL);
		whole = read_reply(ws, err);
		if (!whole && io_now_ns(ws->io) >= deadline_ns)
			whole = out_of_time(ws, "did not reply to the WebSocket handshake", err);
		if (!whole && io_turn(ws->io, deadline_ns, err))
			whole = -1;
		flush(ws);
	}
	io_watch(ws->io, ws->fd, 0, NULL, NULL);
	return whole > 0 ? 0
	       : whole   ? -1
	                 : error_set(err, FAIL_TRANSPORT,
	                             "%s closed the connection during the WebSocket handshake",
	                             buf_cstr(&ws->target.place));
}

static void decline(struct websocket *ws)
{
	AUTO_BUF why = BUF(400);
	struct str fields = buf_view(&ws->handshake.fields);
	struct str location = http_field(fields, "Location");
	struct str media = http_field(fields, "Content-Type");

	ws->page = str_starts_nocase(media, STR("text/html"));
	ws->code = ws->handshake.status;
	buf_printf(&why, "replied to the WebSocket handshake with HTTP %d", ws->code);
	buf_text(&why, ws->page ? " (text/html)" : "");
	if (ws->code / 100 == 3 && location.n) {
		buf_text(&why, ", to ");
		text_escape_cut(&why, location, 200);
	}
	end_with(ws, WEBSOCKET_DECLINED, buf_cstr(&why));
}

static int open_connection(struct websocket *ws, const struct websocket_conf *conf,
                           struct error *err)
{
	unsigned char key[HANDSHAKE_KEY_BYTES];
	uint64_t deadline_ns =
		conf->timeout_ms ? io_deadline_ns(ws->io, conf->timeout_ms) : UINT64_MAX;

	if (target_set_socket(&ws->target, conf->url, err)) {
		return error_set(err, FAIL_USAGE, "invalid URL '%.200s': expected ws:// or wss://",
		                 conf->url);
	}
	ws->tls = target_is_tls(&ws->target);
	if (rng_unique_bytes(key, sizeof(key)))
		return error_errno(err, "cannot get random bytes for a WebSocket key");
	if (handshake_begin(&ws->handshake, buf_cstr(&ws->target.url), ws->io->user_agent,
	                    conf->headers, conf->header_count, key, err)) {
		return -1;
	}
	set_options(ws);
	if (connect_socket(ws, deadline_ns, err) || do_handshake(ws, deadline_ns, err))
		return -1;
	if (ws->handshake.status != 101)
		decline(ws);
	else
		feed(ws, buf_view(&ws->handshake.rest));
	handshake_release(&ws->handshake);
	websocket_serve(ws);
	return 0;
}

int websocket_open(struct io *io, const struct websocket_conf *conf, struct websocket **out,
                   struct error *err)
{
	struct websocket *ws = mem_new(sizeof(*ws));

	*out = NULL;
	ws->io = io;
	ws->fd = CURL_SOCKET_BAD;
	ws->receive = receive_by_curl;
	ws->transmit = transmit_by_curl;
	ws->max_bytes = conf->max_bytes ? conf->max_bytes : BUF_MAX_MESSAGE;
	ws->why = BUF(BUF_MAX_SMALL);
	ws->curl_why = mem_new(CURL_ERROR_SIZE);
	frames_init(&ws->frames, true, ws->max_bytes, 2 * BUF_MAX_MESSAGE);
	target_init(&ws->target);
	ws->transfer.easy = curl_easy_init();
	int failed = ws->transfer.easy ? open_connection(ws, conf, err)
	                               : error_set(err, FAIL_SYSTEM, "libcurl is out of memory");
	if (failed) {
		websocket_free(ws);
		return -1;
	}
	*out = ws;
	return 0;
}
