/* The frames of one WebSocket: see frames.h. libwslay's callbacks only move bytes; decisions are made
   after each round of them. */
#include "net/frames.h"

#include "base/mem.h"
#include "base/rng.h"
#include "base/text.h"

#include <stdlib.h>
#include <wslay/wslay.h>

/* ---- callbacks of libwslay ---- */

static ssize_t on_recv(wslay_event_context_ptr wslay, uint8_t *to, size_t room, int flags,
                       void *arg)
{
	struct frames *f = arg;
	size_t n = f->input.n < room ? f->input.n : room;

	(void)flags;
	if (n == 0 || f->too_large) {
		wslay_event_set_error(wslay, WSLAY_ERR_WOULDBLOCK);
		return -1;
	}
	memcpy(to, f->input.p, n);
	f->input = str_skip(f->input, n);
	f->unframed += n;
	return (ssize_t)n;
}

/* Header and payload of a frame arrive in two calls and are sent in one. */
static ssize_t on_send(wslay_event_context_ptr wslay, const uint8_t *bytes, size_t n, int flags,
                       void *arg)
{
	struct frames *f = arg;

	(void)wslay, (void)flags;
	buf_add(&f->out, bytes, n);
	return (ssize_t)n;
}

static int on_mask(wslay_event_context_ptr wslay, uint8_t *to, size_t n, void *arg)
{
	(void)arg;
	if (rng_unique_bytes(to, n) == 0)
		return 0;
	wslay_event_set_error(wslay, WSLAY_ERR_CALLBACK_FAILURE);
	return -1;
}

/* RFC 6455, section 5.2: libwslay refuses longer forms of the length than necessary. */
static size_t header_bytes(const struct frames *f, uint64_t payload)
{
	size_t mask = f->client ? 0 : 4; /* of the peer's frames */

	return mask + (payload < 126 ? 2u : payload <= UINT16_MAX ? 4u : 10u);
}

static void on_frame_start(wslay_event_context_ptr wslay,
                           const struct wslay_event_on_frame_recv_start_arg *frame, void *arg)
{
	struct frames *f = arg;
	bool control = wslay_is_ctrl_frame(frame->opcode);

	(void)wslay;
	f->opcode = frame->opcode;
	f->close_bytes = frame->payload_length;
	f->frame_bytes = header_bytes(f, frame->payload_length) + frame->payload_length;
	f->fragmented = control ? f->fragmented : !frame->fin;
	/* libwslay checks the limit only where it buffers the message itself */
	f->too_large |= !control && frame->payload_length > f->max_bytes - f->partial.n;
}

static void on_frame_chunk(wslay_event_context_ptr wslay,
                           const struct wslay_event_on_frame_recv_chunk_arg *piece, void *arg)
{
	struct frames *f = arg;

	(void)wslay;
	if (f->opcode == WSLAY_CONNECTION_CLOSE)
		buf_add(&f->reason, piece->data, piece->data_length);
	else if (!wslay_is_ctrl_frame(f->opcode) && !f->too_large)
		buf_add(&f->partial, piece->data, piece->data_length);
}

static void on_frame_end(wslay_event_context_ptr wslay, void *arg)
{
	struct frames *f = arg;

	(void)wslay;
	f->unframed -= f->frame_bytes;
}

static void queue_message(struct frames *f, bool binary)
{
	struct frame_message *m = mem_new(sizeof(*m));

	m->bytes = f->partial;
	m->binary = binary;
	f->partial = BUF(f->max_bytes);
	*(f->last ? &f->last->next : &f->first) = m;
	f->last = m;
	f->count++;
	f->bytes += m->bytes.n;
}

/* A Close frame is valid even with a code unknown to libwslay, such as 1012 of a restarting
   server. */
static void take_close(struct frames *f)
{
	const unsigned char *p = (const unsigned char *)f->reason.p;

	f->code = f->reason.n < 2 ? WSLAY_CODE_NO_STATUS_RCVD : p[0] << 8 | p[1];
	buf_drop(&f->reason, f->reason.n < 2 ? f->reason.n : 2);
	buf_cut(&f->reason, text_utf8_valid(buf_view(&f->reason)));
	f->end = FRAMES_CLOSED;
}

static void on_message(wslay_event_context_ptr wslay, const struct wslay_event_on_msg_recv_arg *m,
                       void *arg)
{
	struct frames *f = arg;
	struct str bytes = {(const char *)m->msg, m->msg_length};
	struct str ping = {(const char *)&f->pings, sizeof(f->pings)};

	(void)wslay;
	if (m->opcode == WSLAY_CONNECTION_CLOSE)
		take_close(f);
	else if (m->opcode == WSLAY_PONG)
		f->pong_received |= str_eq(bytes, ping);
	else if (m->opcode != WSLAY_PING && !f->too_large)
		queue_message(f, m->opcode == WSLAY_BINARY_FRAME);
}

/* ---- libwslay's context ---- */

static wslay_event_context_ptr context_of(struct frames *f)
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

	if (f->wslay)
		return f->wslay;
	if (f->client ? wslay_event_context_client_init(&f->wslay, &callbacks, f)
	              : wslay_event_context_server_init(&f->wslay, &callbacks, f)) {
		mem_failed(sizeof(*f));
	}
	wslay_event_config_set_no_buffering(f->wslay, 1);
	return f->wslay;
}

/* A context of libwslay has 8 KiB of buffers. Between two messages it holds nothing else, unless
   the connection is being closed: then it is freed, for there may be thousands of connections. */
static void rest(struct frames *f)
{
	bool busy = f->unframed || f->fragmented || f->end != FRAMES_OPEN;

	if (f->wslay && !busy && !wslay_event_want_write(f->wslay) &&
	    !wslay_event_get_close_sent(f->wslay)) {
		wslay_event_context_free(f->wslay);
		f->wslay = NULL;
	}
}

void frames_init(struct frames *f, bool client, size_t max_bytes, size_t out_max)
{
	*f = (struct frames){.client = client,
	                     .max_bytes = max_bytes,
	                     .out = BUF(out_max),
	                     .partial = BUF(max_bytes),
	                     .reason = BUF(BUF_MAX_SMALL)};
}

void frames_release(struct frames *f)
{
	for (struct frame_message *m; (m = frames_next(f));)
		frame_message_free(m);
	if (f->wslay)
		wslay_event_context_free(f->wslay);
	BUFS_RELEASE(&f->out, &f->partial, &f->reason);
	*f = (struct frames){0};
}

/* ---- bytes in ---- */

static void fail(struct frames *f, int code)
{
	bool known =
		code == WSLAY_CODE_MESSAGE_TOO_BIG || code == WSLAY_CODE_INVALID_FRAME_PAYLOAD_DATA;

	f->code = known ? code : WSLAY_CODE_PROTOCOL_ERROR;
	buf_clear(&f->reason);
	f->end = FRAMES_BROKEN;
}

/* libwslay answers a violation of the protocol with a Close of its own. */
static void check_violation(struct frames *f)
{
	bool close = f->opcode == WSLAY_CONNECTION_CLOSE;

	if (f->end != FRAMES_OPEN)
		return;
	if (f->too_large)
		fail(f, WSLAY_CODE_MESSAGE_TOO_BIG);
	else if (wslay_event_get_read_enabled(f->wslay))
		return;
	else if (close && f->reason.n >= 2 && f->reason.n == f->close_bytes)
		take_close(f);
	else
		fail(f, close ? WSLAY_CODE_PROTOCOL_ERROR
		              : wslay_event_get_status_code_sent(f->wslay));
}

void frames_feed(struct frames *f, struct str bytes)
{
	if (f->end != FRAMES_OPEN)
		return;
	f->input = bytes;
	(void)!wslay_event_recv(context_of(f));
	if (f->too_large)
		wslay_event_queue_close(f->wslay, WSLAY_CODE_MESSAGE_TOO_BIG, NULL, 0);
	(void)!wslay_event_send(f->wslay);
	f->input = STR_NONE;
	check_violation(f);
	rest(f);
}

struct frame_message *frames_next(struct frames *f)
{
	struct frame_message *m = f->first;

	if (m) {
		f->first = m->next;
		f->last = f->first ? f->last : NULL;
		f->count--;
		f->bytes -= m->bytes.n;
	}
	return m;
}

void frame_message_free(struct frame_message *m)
{
	if (m) {
		buf_release(&m->bytes);
		free(m);
	}
}

/* ---- frames out ---- */

static void queue(struct frames *f, uint8_t opcode, struct str payload)
{
	struct wslay_event_msg m = {
		.opcode = opcode, .msg = (const uint8_t *)payload.p, .msg_length = payload.n};

	(void)!wslay_event_queue_msg(context_of(f), &m);
	(void)!wslay_event_send(f->wslay);
	rest(f);
}

void frames_send(struct frames *f, struct str text)
{
	queue(f, WSLAY_TEXT_FRAME, text);
}

void frames_ping(struct frames *f)
{
	f->pings++;
	f->pong_received = false;
	queue(f, WSLAY_PING, (struct str){(const char *)&f->pings, sizeof(f->pings)});
}

void frames_close(struct frames *f, int code, const char *reason)
{
	(void)!wslay_event_queue_close(context_of(f), (uint16_t)code, (const uint8_t *)reason,
	                               reason ? strlen(reason) : 0);
	(void)!wslay_event_send(f->wslay);
}
