/* A WebSocket client: see websocket.h. */
#include "net/websocket.h"

#include "net/websocket_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Bytes of one read, and reads in a row, so that a waiting call can check its deadline. */
#define PIECE     ((size_t)4 << 10)
#define READS_MAX 16

enum { CODE_NORMAL = 1000, CODE_BAD_TEXT = 1007, CODE_TOO_LARGE = 1009 };

void websocket_end_with(struct websocket *ws, enum websocket_end end, const char *why)
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

void websocket_flush(struct websocket *ws)
{
	struct buf *out = &ws->frames.out;
	size_t at = 0, n = 0;

	while (at < out->n) {
		CURLcode rc = ws->transmit(ws, out->p + at, out->n - at, &n);

		if (rc == CURLE_AGAIN)
			break;
		if (rc != CURLE_OK) {
			websocket_end_with(ws, WEBSOCKET_LOST, "closed the connection");
			at = out->n;
			break;
		}
		at += n;
	}
	buf_drop(out, at);
	ws->messages -= ws->messages < at ? ws->messages : at;
}

void websocket_feed(struct websocket *ws, struct str bytes)
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
		websocket_end_with(ws, WEBSOCKET_CLOSED, why);
		return;
	}
	websocket_end_with(ws, WEBSOCKET_BROKEN,
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
		websocket_end_with(ws, WEBSOCKET_LOST,
		                   "closed the connection without a Close frame");
		return false;
	}
	websocket_feed(ws, (struct str){bytes, n});
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
		websocket_flush(ws);
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
	websocket_flush(ws);
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

int websocket_out_of_time(const struct websocket *ws, const char *what, struct error *err)
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
			return websocket_out_of_time(ws, "did not reply", err);
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
