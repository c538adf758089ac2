/* Opens a WebSocket: a connection by libcurl, and the handshake on it. See websocket.h. */
#include "net/websocket.h"

#include "base/mem.h"
#include "base/rng.h"
#include "base/text.h"
#include "net/handshake.h"
#include "net/websocket_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <strings.h>
#include <sys/socket.h>

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
			return websocket_out_of_time(ws, "did not accept a connection", err);
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
	websocket_flush(ws);
	while (!whole && ws->end == WEBSOCKET_OPEN) {
		io_watch(ws->io, ws->fd, (short)(POLLIN | (ws->frames.out.n ? POLLOUT : 0)), wake,
		         NULL);
		whole = read_reply(ws, err);
		if (!whole && io_now_ns(ws->io) >= deadline_ns) {
			whole = websocket_out_of_time(
				ws, "did not reply to the WebSocket handshake", err);
		}
		if (!whole && io_turn(ws->io, deadline_ns, err))
			whole = -1;
		websocket_flush(ws);
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

	ws->page = media.n >= 9 && !strncasecmp(media.p, "text/html", 9);
	ws->code = ws->handshake.status;
	buf_printf(&why, "replied to the WebSocket handshake with HTTP %d", ws->code);
	buf_text(&why, ws->page ? " (text/html)" : "");
	if (ws->code / 100 == 3 && location.n) {
		buf_text(&why, ", to ");
		text_escape_cut(&why, location, 200);
	}
	websocket_end_with(ws, WEBSOCKET_DECLINED, buf_cstr(&why));
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
		websocket_feed(ws, buf_view(&ws->handshake.rest));
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
