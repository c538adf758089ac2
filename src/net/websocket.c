/* A WebSocket client: see websocket.h. libwslay's callbacks only move bytes; decisions are made
   after each round of them. */
#include "net/websocket.h"

#include "base/mem.h"
#include "base/rng.h"
#include "base/text.h"
#include "net/websocket_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

void websocket_end_with(struct websocket *ws, enum websocket_end end, const char *why)
{
	if (ws->end == WEBSOCKET_OPEN) {
		ws->end = end;
		buf_str(&ws->why, buf_view(&ws->target.place));
		buf_char(&ws->why, ' ');
		buf_text(&ws->why, why);
	}
}

/* ---- callbacks of libwslay ---- */

static bool inbox_full(const struct websocket *ws)
{
	return ws->inbox >= INBOX_MAX || ws->inbox_bytes > ws->max_bytes;
}

static bool must_wait(const struct websocket *ws)
{
	return inbox_full(ws) || ws->out.n > ws->messages + PONGS_MAX;
}

static ssize_t would_block(wslay_event_context_ptr frames)
{
	wslay_event_set_error(frames, WSLAY_ERR_WOULDBLOCK);
	return -1;
}

static ssize_t on_recv(wslay_event_context_ptr frames, uint8_t *to, size_t room, int flags,
                       void *arg)
{
	struct websocket *ws = arg;
	size_t n = ws->early.n < room ? ws->early.n : room;

	(void)flags;
	ws->more = ws->more || ws->round >= ROUND_BYTES;
	if (ws->drained || ws->more || ws->too_large || must_wait(ws))
		return would_block(frames);
	if (n) {
		memcpy(to, ws->early.p, n);
		buf_drop(&ws->early, n);
		ws->round += n;
		ws->unframed += n;
		return (ssize_t)n;
	}
	CURLcode rc = ws->receive(ws, to, room, &n);
	if (rc == CURLE_AGAIN)
		return would_block(frames);
	if (rc != CURLE_OK || n == 0) {
		websocket_end_with(ws, WEBSOCKET_LOST,
		                   "closed the connection without a Close frame");
		wslay_event_set_error(frames, WSLAY_ERR_CALLBACK_FAILURE);
		return -1;
	}
	/* the TLS library may hold more than the socket does */
	ws->drained = n < room && !ws->tls;
	ws->round += n;
	ws->unframed += n;
	return (ssize_t)n;
}

/* Header and payload of a frame arrive in two calls and are sent in one. */
static ssize_t on_send(wslay_event_context_ptr frames, const uint8_t *bytes, size_t n, int flags,
                       void *arg)
{
	struct websocket *ws = arg;

	(void)frames;
	(void)flags;
	buf_add(&ws->out, bytes, n);
	return (ssize_t)n;
}

static int on_mask(wslay_event_context_ptr frames, uint8_t *to, size_t n, void *arg)
{
	struct websocket *ws = arg;

	if (ws->masks_left < n) {
		if (rng_unique_bytes(ws->masks, sizeof(ws->masks))) {
			wslay_event_set_error(frames, WSLAY_ERR_CALLBACK_FAILURE);
			return -1;
		}
		ws->masks_left = sizeof(ws->masks);
	}
	ws->masks_left -= n;
	memcpy(to, ws->masks + ws->masks_left, n);
	return 0;
}

/* RFC 6455, section 5.2, for a server's frames: they are not masked, and libwslay refuses longer
   forms of the length than necessary. */
static size_t header_bytes(uint64_t payload)
{
	return payload < 126 ? 2 : payload <= UINT16_MAX ? 4 : 10;
}

static void on_frame_start(wslay_event_context_ptr frames,
                           const struct wslay_event_on_frame_recv_start_arg *frame, void *arg)
{
	struct websocket *ws = arg;

	(void)frames;
	ws->opcode = frame->opcode;
	ws->close_bytes = frame->payload_length;
	ws->frame_bytes = header_bytes(frame->payload_length) + frame->payload_length;
	if (!wslay_is_ctrl_frame(frame->opcode))
		ws->fragmented = !frame->fin;
	/* libwslay checks the limit only where it buffers the message itself */
	if (!wslay_is_ctrl_frame(frame->opcode) &&
	    frame->payload_length > ws->max_bytes - ws->partial.n) {
		ws->too_large = true;
	}
}

static void on_frame_chunk(wslay_event_context_ptr frames,
                           const struct wslay_event_on_frame_recv_chunk_arg *piece, void *arg)
{
	struct websocket *ws = arg;

	(void)frames;
	if (ws->opcode == WSLAY_CONNECTION_CLOSE)
		buf_add(&ws->reason, piece->data, piece->data_length);
	else if (!wslay_is_ctrl_frame(ws->opcode) && !ws->too_large)
		buf_add(&ws->partial, piece->data, piece->data_length);
}

static void on_frame_end(wslay_event_context_ptr frames, void *arg)
{
	struct websocket *ws = arg;

	(void)frames;
	ws->unframed -= ws->frame_bytes;
}

static void queue_message(struct websocket *ws, bool binary)
{
	struct ws_message *m = mem_new(sizeof(*m));

	m->bytes = ws->partial;
	m->binary = binary;
	ws->partial = BUF(ws->max_bytes);
	*(ws->last ? &ws->last->next : &ws->first) = m;
	ws->last = m;
	ws->inbox++;
	ws->inbox_bytes += m->bytes.n;
}

/* A Close frame is valid even with a code unknown to libwslay, such as 1012 of a restarting
   server. */
static void on_close_frame(struct websocket *ws)
{
	const unsigned char *p = (const unsigned char *)ws->reason.p;
	char why[200];

	ws->code = ws->reason.n < 2 ? WSLAY_CODE_NO_STATUS_RCVD : p[0] << 8 | p[1];
	buf_drop(&ws->reason, ws->reason.n < 2 ? ws->reason.n : 2);
	buf_cut(&ws->reason, text_utf8_valid(buf_view(&ws->reason)));
	snprintf(why, sizeof(why), "closed the WebSocket: %d%s%s", ws->code,
	         ws->reason.n ? " " : "", buf_cstr(&ws->reason));
	websocket_end_with(ws, WEBSOCKET_CLOSED, why);
}

static void on_message(wslay_event_context_ptr frames,
                       const struct wslay_event_on_msg_recv_arg *message, void *arg)
{
	struct websocket *ws = arg;

	(void)frames;
	if (message->opcode == WSLAY_CONNECTION_CLOSE)
		on_close_frame(ws);
	else if (!wslay_is_ctrl_frame(message->opcode) && !ws->too_large)
		queue_message(ws, message->opcode == WSLAY_BINARY_FRAME);
}

/* ---- libwslay's context ---- */

static wslay_event_context_ptr frames_of(struct websocket *ws)
{
	static const struct wslay_event_callbacks callbacks = {
		.recv_callback = on_recv,
		.send_callback = on_send,
		.genmask_callback = on_mask,
		.on_frame_recv_start_callback = on_frame_start,
		.on_frame_recv_chunk_callback = on_frame_chunk,
		.on_frame_recv_end_callback = on_frame_end,
		.on_msg_recv_callback = on_message,
	};

	if (ws->frames)
		return ws->frames;
	if (wslay_event_context_client_init(&ws->frames, &callbacks, ws))
		mem_failed(sizeof(struct websocket));
	wslay_event_config_set_no_buffering(ws->frames, 1);
	return ws->frames;
}

/* A context of libwslay has 8 KiB of buffers. Between two messages it holds nothing else, unless
   the connection is being closed: then it is freed, for there may be thousands of connections. */
static void rest(struct websocket *ws)
{
	bool busy = ws->unframed || ws->fragmented || ws->end != WEBSOCKET_OPEN;

	if (ws->frames && !busy && !wslay_event_want_write(ws->frames) &&
	    !wslay_event_get_close_sent(ws->frames)) {
		wslay_event_context_free(ws->frames);
		ws->frames = NULL;
	}
}

/* ---- rounds of reading and sending ---- */

void websocket_flush(struct websocket *ws)
{
	size_t at = 0, n = 0;

	while (at < ws->out.n) {
		CURLcode rc = ws->transmit(ws, ws->out.p + at, ws->out.n - at, &n);

		if (rc == CURLE_AGAIN)
			break;
		if (rc != CURLE_OK) {
			websocket_end_with(ws, WEBSOCKET_LOST, "closed the connection");
			at = ws->out.n;
			break;
		}
		at += n;
	}
	buf_drop(&ws->out, at);
	ws->messages -= ws->messages < at ? ws->messages : at;
}

static void fail_connection(struct websocket *ws, int code)
{
	const char *what = "sent frames that violate RFC 6455";

	if (code == WSLAY_CODE_MESSAGE_TOO_BIG)
		what = "sent a message over the limit";
	else if (code == WSLAY_CODE_INVALID_FRAME_PAYLOAD_DATA)
		what = "sent text that is not UTF-8";
	else
		code = WSLAY_CODE_PROTOCOL_ERROR;
	ws->code = code;
	buf_clear(&ws->reason);
	websocket_end_with(ws, WEBSOCKET_BROKEN, what);
}

/* libwslay answers a violation of the protocol with a Close of its own. */
static void check_violation(struct websocket *ws)
{
	if (ws->end != WEBSOCKET_OPEN)
		return;
	if (ws->too_large) {
		fail_connection(ws, WSLAY_CODE_MESSAGE_TOO_BIG);
	} else if (!wslay_event_get_read_enabled(ws->frames)) {
		int code = wslay_event_get_status_code_sent(ws->frames);
		bool close = ws->opcode == WSLAY_CONNECTION_CLOSE;

		if (close && ws->reason.n >= 2 && ws->reason.n == ws->close_bytes)
			on_close_frame(ws);
		else
			fail_connection(ws, close ? WSLAY_CODE_PROTOCOL_ERROR : code);
	}
}

static int on_ready(void *arg, int fd, short ready, struct error *err);

static void watch(struct websocket *ws)
{
	bool open = ws->end == WEBSOCKET_OPEN;
	short want = 0;

	if (open)
		want = (short)((must_wait(ws) ? 0 : POLLIN) | (ws->out.n ? POLLOUT : 0));
	if (want != ws->watched) {
		io_watch(ws->io, ws->fd, want, on_ready, ws);
		ws->watched = want;
	}
}

void websocket_serve(struct websocket *ws)
{
	bool waited = must_wait(ws);

	ws->drained = ws->more = false;
	ws->round = 0;
	if (ws->end == WEBSOCKET_OPEN) {
		(void)!wslay_event_recv(frames_of(ws));
		if (ws->too_large)
			wslay_event_queue_close(ws->frames, WSLAY_CODE_MESSAGE_TOO_BIG, NULL, 0);
		(void)!wslay_event_send(ws->frames);
		check_violation(ws);
		websocket_flush(ws);
	}
	ws->more = ws->more || (waited && !must_wait(ws));
	rest(ws);
	watch(ws);
}

static int on_ready(void *arg, int fd, short ready, struct error *err)
{
	(void)fd, (void)ready, (void)err;
	websocket_serve(arg);
	return 0;
}

/* ---- the end ---- */

static void free_message(struct ws_message *m)
{
	if (m) {
		buf_release(&m->bytes);
		free(m);
	}
}

void websocket_free(struct websocket *ws)
{
	if (!ws)
		return;
	if (ws->watched)
		io_watch(ws->io, ws->fd, 0, NULL, NULL);
	while (ws->first) {
		struct ws_message *m = ws->first;

		ws->first = m->next;
		free_message(m);
	}
	free_message(ws->taken);
	if (ws->frames)
		wslay_event_context_free(ws->frames);
	if (ws->started)
		io_drop(ws->io, &ws->transfer);
	curl_easy_cleanup(ws->transfer.easy);
	if (ws->ours)
		close(ws->fd);
	handshake_release(&ws->handshake);
	target_release(&ws->target);
	free(ws->curl_why);
	BUFS_RELEASE(&ws->early, &ws->out, &ws->partial, &ws->reason, &ws->why);
	free(ws);
}

void websocket_close(struct websocket *ws, uint64_t timeout_ms)
{
	struct websocket_message unread;
	struct error ignored = {0};
	uint64_t deadline_ns = io_deadline_ns(ws->io, timeout_ms);

	if (ws->end != WEBSOCKET_OPEN)
		return;
	wslay_event_queue_close(frames_of(ws), WSLAY_CODE_NORMAL_CLOSURE, NULL, 0);
	websocket_serve(ws);
	/* later messages are discarded */
	for (int got = 1; got > 0;) {
		uint64_t now = io_now_ns(ws->io);
		uint64_t left = now < deadline_ns ? (deadline_ns - now) / 1000000 : 0;

		got = websocket_receive(ws, &unread, left, &ignored);
		got = left ? got : 0;
	}
}

/* ---- messages ---- */

static void queue(struct websocket *ws, struct str text)
{
	struct wslay_event_msg message = {
		.opcode = WSLAY_TEXT_FRAME, .msg = (const uint8_t *)text.p, .msg_length = text.n};

	if (ws->end == WEBSOCKET_OPEN) {
		(void)!wslay_event_queue_msg(frames_of(ws), &message);
		(void)!wslay_event_send(ws->frames);
		ws->messages = ws->out.n;
	}
}

static void send_queued(struct websocket *ws)
{
	if (ws->end == WEBSOCKET_OPEN) {
		websocket_flush(ws);
		rest(ws);
		watch(ws);
	}
}

void websocket_send(struct websocket *ws, struct str text)
{
	queue(ws, text);
	send_queued(ws);
}

void websocket_send_both(struct websocket *ws, struct str first, struct str second)
{
	queue(ws, first);
	queue(ws, second);
	send_queued(ws);
}

bool websocket_has_message(struct websocket *ws)
{
	websocket_serve(ws);
	return ws->first != NULL;
}

int websocket_out_of_time(const struct websocket *ws, const char *what, struct error *err)
{
	return error_set(err, FAIL_TIMEOUT, "%s %s in time", buf_cstr(&ws->target.place), what);
}

static bool next_message(struct websocket *ws, struct websocket_message *out)
{
	bool was_full = inbox_full(ws);

	free_message(ws->taken);
	ws->taken = ws->first;
	if (!ws->taken)
		return false;
	ws->first = ws->taken->next;
	ws->last = ws->first ? ws->last : NULL;
	ws->inbox--;
	ws->inbox_bytes -= ws->taken->bytes.n;
	*out = (struct websocket_message){buf_view(&ws->taken->bytes), ws->taken->binary};
	if (was_full)
		websocket_serve(ws); /* libwslay may have buffered data that poll does not report */
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
