/* One WebSocket's frames through libwslay, whose callbacks only move bytes: see
   frames.h. */
#include "serve/host/frames.h"

#include "base/hash.h"
#include "base/mem.h"
#include "base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <wslay/wslay.h>

#define OUT_MAX (FRAMES_MESSAGE_MAX * 4)

/* ---- what libwslay calls ---- */

static ssize_t take_bytes(wslay_event_context_ptr wslay, uint8_t *to, size_t room, int flags,
                          void *arg)
{
	struct frames *f = arg;
	size_t n = f->given.n < room ? f->given.n : room;

	(void)flags;
	if (n == 0 || f->too_large) {
		wslay_event_set_error(wslay, WSLAY_ERR_WOULDBLOCK);
		return -1;
	}
	memcpy(to, f->given.p, n);
	f->given = str_skip(f->given, n);
	return (ssize_t)n;
}

static ssize_t give_bytes(wslay_event_context_ptr wslay, const uint8_t *bytes, size_t n, int flags,
                          void *arg)
{
	struct frames *f = arg;

	(void)wslay, (void)flags;
	buf_add(&f->out, bytes, n);
	return (ssize_t)n;
}

/* As it came over the wire: RFC 6455 section 5.2, with a mask. */
static size_t frame_bytes(uint64_t payload)
{
	size_t longer = payload < 126 ? 0 : payload < 65536 ? 2 : 8;

	return 2 + longer + 4 + (size_t)payload;
}

/* libwslay looks at no limit where it does not keep the message itself. */
static void frame_begins(wslay_event_context_ptr wslay,
                         const struct wslay_event_on_frame_recv_start_arg *frame, void *arg)
{
	struct frames *f = arg;
	unsigned long long n = frame->payload_length;
	char why[120];

	(void)wslay;
	f->opcode = frame->opcode;
	f->owed -= frame_bytes(frame->payload_length);
	if (!wslay_is_ctrl_frame(frame->opcode)) {
		f->unfinished = !frame->fin;
	}
	if (wslay_is_ctrl_frame(frame->opcode) || n <= FRAMES_MESSAGE_MAX - f->partial.n) {
		return;
	}
	f->too_large = true;
	if (f->partial.n > 0) {
		snprintf(why, sizeof(why),
		         "frame with %llu bytes after reading %zu bytes exceeds limit of %zu bytes",
		         n, f->partial.n, FRAMES_MESSAGE_MAX);
	} else {
		snprintf(why, sizeof(why), "frame with %llu bytes exceeds limit of %zu bytes", n,
		         FRAMES_MESSAGE_MAX);
	}
	frames_close(f, WSLAY_CODE_MESSAGE_TOO_BIG, why);
}

static void frame_piece(wslay_event_context_ptr wslay,
                        const struct wslay_event_on_frame_recv_chunk_arg *piece, void *arg)
{
	struct frames *f = arg;

	(void)wslay;
	if (!wslay_is_ctrl_frame(f->opcode) && !f->too_large) {
		buf_add(&f->partial, piece->data, piece->data_length);
	}
}

static void keep_message(struct frames *f, bool binary)
{
	struct frame_message *m = mem_new(sizeof(*m));

	m->bytes = f->partial;
	m->binary = binary;
	f->partial = BUF(FRAMES_MESSAGE_MAX);
	if (f->last) {
		f->last->next = m;
	} else {
		f->first = m;
	}
	f->last = m;
	f->count++;
}

static void take_message(wslay_event_context_ptr wslay, const struct wslay_event_on_msg_recv_arg *m,
                         void *arg)
{
	struct frames *f = arg;

	(void)wslay;
	switch (m->opcode) {
	case WSLAY_CONNECTION_CLOSE:
		f->peer_closed = true;
		break;
	case WSLAY_PONG:
		f->ponged |= str_eq((struct str){(const char *)m->msg, m->msg_length},
		                    (struct str){(const char *)&f->pings, sizeof(f->pings)});
		break;
	case WSLAY_PING:
		break;
	default:
		if (!f->too_large) {
			keep_message(f, m->opcode == WSLAY_BINARY_FRAME);
		}
	}
}

/* ---- bytes and messages ---- */

/* Without one a connection has nothing under way: any will do. */
static wslay_event_context_ptr context_of(struct frames *f)
{
	static const struct wslay_event_callbacks callbacks = {
		.recv_callback = take_bytes,
		.send_callback = give_bytes,
		.on_frame_recv_start_callback = frame_begins,
		.on_frame_recv_chunk_callback = frame_piece,
		.on_msg_recv_callback = take_message,
	};

	if (!f->wslay) {
		if (wslay_event_context_server_init(&f->wslay, &callbacks, f) != 0) {
			abort(); /* like any memory that cannot be had */
		}
		wslay_event_config_set_no_buffering(f->wslay, 1);
	}
	return f->wslay;
}

void frames_init(struct frames *f)
{
	*f = (struct frames){.partial = BUF(FRAMES_MESSAGE_MAX), .out = BUF(OUT_MAX)};
}

void frames_rest(struct frames *f)
{
	if (f->wslay && f->owed == 0 && !f->unfinished && !f->closing && !f->broken &&
	    !f->peer_closed) {
		wslay_event_context_free(f->wslay);
		f->wslay = NULL;
	}
}

void frames_release(struct frames *f)
{
	for (struct frame_message *m; (m = frames_take(f));) {
		frame_message_free(m);
	}
	if (f->wslay) {
		wslay_event_context_free(f->wslay);
	}
	buf_release(&f->partial);
	buf_release(&f->out);
	*f = (struct frames){0};
}

void frames_feed(struct frames *f, struct str bytes)
{
	wslay_event_context_ptr wslay = context_of(f);

	f->given = bytes;
	f->owed += bytes.n;
	(void)!wslay_event_recv(wslay);
	(void)!wslay_event_send(wslay);
	f->given = STR_NONE;
	if (!wslay_event_get_read_enabled(wslay) && !f->peer_closed) {
		f->broken = true; /* libwslay has said so in a Close of its own */
	}
	f->broken |= f->too_large;
}

struct frame_message *frames_take(struct frames *f)
{
	struct frame_message *m = f->first;

	if (m) {
		f->first = m->next;
		f->last = f->first ? f->last : NULL;
		f->count--;
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

static void queue(struct frames *f, uint8_t opcode, struct str payload)
{
	struct wslay_event_msg m = {
		.opcode = opcode, .msg = (const uint8_t *)payload.p, .msg_length = payload.n};

	(void)!wslay_event_queue_msg(context_of(f), &m);
	(void)!wslay_event_send(f->wslay);
}

void frames_send(struct frames *f, struct str text)
{
	queue(f, WSLAY_TEXT_FRAME, text);
}

void frames_ping(struct frames *f)
{
	f->pings++;
	f->ponged = false;
	queue(f, WSLAY_PING, (struct str){(const char *)&f->pings, sizeof(f->pings)});
}

void frames_close(struct frames *f, int code, const char *reason)
{
	f->closing = true;
	(void)!wslay_event_queue_close(context_of(f), (uint16_t)code, (const uint8_t *)reason,
	                               reason ? strlen(reason) : 0);
	(void)!wslay_event_send(f->wslay);
}
