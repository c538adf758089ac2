/* The frames of one WebSocket through libwslay: see frames.h. */
#include "serve/host/frames.h"

#include "base/hash.h"
#include "base/mem.h"
#include "base/text.h"

#include <stdlib.h>
#include <wslay/wslay.h>

#define OUT_MAX (FRAMES_MESSAGE_MAX * 4)

static ssize_t on_recv(wslay_event_context_ptr wslay, uint8_t *to, size_t room, int flags,
                       void *arg)
{
	struct frames *f = arg;
	size_t n = f->input.n < room ? f->input.n : room;

	(void)flags;
	if (n == 0) {
		wslay_event_set_error(wslay, WSLAY_ERR_WOULDBLOCK);
		return -1;
	}
	memcpy(to, f->input.p, n);
	f->input = str_skip(f->input, n);
	return (ssize_t)n;
}

static ssize_t on_send(wslay_event_context_ptr wslay, const uint8_t *bytes, size_t n, int flags,
                       void *arg)
{
	struct frames *f = arg;

	(void)wslay, (void)flags;
	buf_add(&f->out, bytes, n);
	return (ssize_t)n;
}

static void queue_message(struct frames *f, struct str bytes, bool binary)
{
	struct frame_message *m = mem_new(sizeof(*m));

	m->bytes = BUF(FRAMES_MESSAGE_MAX);
	m->binary = binary;
	buf_str(&m->bytes, bytes);
	if (f->last)
		f->last->next = m;
	else
		f->first = m;
	f->last = m;
	f->count++;
}

static void on_message(wslay_event_context_ptr wslay, const struct wslay_event_on_msg_recv_arg *m,
                       void *arg)
{
	struct str bytes = {(const char *)m->msg, m->msg_length};
	struct frames *f = arg;

	(void)wslay;
	switch (m->opcode) {
	case WSLAY_CONNECTION_CLOSE:
		f->peer_closed = true;
		break;
	case WSLAY_PONG:
		f->pong_received |=
			str_eq(bytes, (struct str){(const char *)&f->pings, sizeof(f->pings)});
		break;
	case WSLAY_PING:
		break;
	default:
		queue_message(f, bytes, m->opcode == WSLAY_BINARY_FRAME);
	}
}

void frames_init(struct frames *f)
{
	static const struct wslay_event_callbacks callbacks = {
		.recv_callback = on_recv,
		.send_callback = on_send,
		.on_msg_recv_callback = on_message,
	};

	*f = (struct frames){.out = BUF(OUT_MAX)};
	if (wslay_event_context_server_init(&f->wslay, &callbacks, f) != 0)
		abort(); /* out of memory */
	wslay_event_config_set_max_recv_msg_length(f->wslay, FRAMES_MESSAGE_MAX);
}

void frames_release(struct frames *f)
{
	for (struct frame_message *m; (m = frames_next(f));)
		frame_message_free(m);
	if (f->wslay)
		wslay_event_context_free(f->wslay);
	buf_release(&f->out);
	*f = (struct frames){0};
}

void frames_feed(struct frames *f, struct str bytes)
{
	f->input = bytes;
	(void)!wslay_event_recv(f->wslay);
	(void)!wslay_event_send(f->wslay);
	f->input = STR_NONE;
	if (!wslay_event_get_read_enabled(f->wslay) && !f->peer_closed)
		f->broken = true; /* libwslay has queued the Close */
}

struct frame_message *frames_next(struct frames *f)
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

	(void)!wslay_event_queue_msg(f->wslay, &m);
	(void)!wslay_event_send(f->wslay);
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
	(void)!wslay_event_queue_close(f->wslay, (uint16_t)code, (const uint8_t *)reason,
	                               reason ? strlen(reason) : 0);
	(void)!wslay_event_send(f->wslay);
}
