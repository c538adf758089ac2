/* The frames of one WebSocket: see frames.h. */
#include "net/frames.h"

#include "base/mem.h"
#include "base/rng.h"
#include "base/text.h"

#include <stdlib.h>

enum { WS_CLOSE_FRAME = 0x88, WS_PING_FRAME, WS_PONG_FRAME };
enum { CODE_PROTOCOL = 1002, CODE_TEXT = 1007, CODE_TOO_LARGE = 1009 };

void frames_init(struct frames *f, bool client, size_t max_bytes, size_t out_max)
{
	*f = (struct frames){.client = client, .out = BUF(out_max), .reason = BUF(BUF_MAX_SMALL)};
	ws_reader_init(&f->in, max_bytes);
	f->in.strict = true;
	f->in.from_client = !client;
}

void frames_release(struct frames *f)
{
	for (struct frame_message *m; (m = frames_next(f));)
		frame_message_free(m);
	ws_reader_release(&f->in);
	BUFS_RELEASE(&f->out, &f->reason);
	*f = (struct frames){0};
}

/* ---- frames out ---- */

static void put(struct frames *f, unsigned char first, struct str payload)
{
	unsigned char mask[4];

	if (f->close_sent || (f->client && rng_unique_bytes(mask, sizeof(mask))))
		return;
	ws_put_frame(&f->out, first, payload, f->client ? mask : NULL);
	f->close_sent = first == WS_CLOSE_FRAME;
}

void frames_send(struct frames *f, struct str text)
{
	put(f, WS_TEXT, text);
}

static struct str ping_payload(const struct frames *f)
{
	return (struct str){(const char *)&f->pings, sizeof(f->pings)};
}

void frames_ping(struct frames *f)
{
	f->pings++;
	f->pong_received = false;
	put(f, WS_PING_FRAME, ping_payload(f));
}

void frames_close(struct frames *f, int code, const char *reason)
{
	struct buf payload = BUF(BUF_MAX_SMALL);

	buf_char(&payload, (char)(code >> 8));
	buf_char(&payload, (char)code);
	buf_text(&payload, reason ? reason : "");
	put(f, WS_CLOSE_FRAME, buf_view(&payload));
	buf_release(&payload);
}

/* ---- bytes in ---- */

static void fail(struct frames *f, int code)
{
	f->code = code;
	f->end = FRAMES_BROKEN;
	frames_close(f, code, NULL);
}

static void take_message(struct frames *f, const struct ws_part *p)
{
	if (p->cut || (!p->binary && text_utf8_valid(p->bytes) < p->bytes.n)) {
		fail(f, p->cut ? CODE_TOO_LARGE : CODE_TEXT);
		return;
	}
	struct frame_message *m = mem_new(sizeof(*m));

	m->bytes = BUF(f->in.max_message);
	m->binary = p->binary;
	if (p->bytes.n && p->bytes.p == f->in.message.p) { /* it was put together */
		m->bytes = f->in.message;
		f->in.message = BUF(f->in.max_message);
	} else {
		buf_str(&m->bytes, p->bytes);
	}
	*(f->last ? &f->last->next : &f->first) = m;
	f->last = m;
	f->count++;
	f->bytes += m->bytes.n;
}

/* Its code may be one of a later standard. */
static void take_close(struct frames *f, const struct ws_part *p)
{
	if (p->payload.n == 1) {
		fail(f, CODE_PROTOCOL);
		return;
	}
	f->code = p->code;
	buf_add(&f->reason, p->bytes.p, text_utf8_valid(p->bytes));
	f->end = FRAMES_CLOSED;
	put(f, WS_CLOSE_FRAME, p->payload);
}

void frames_feed(struct frames *f, struct str bytes)
{
	struct ws_part p;

	ws_reader_feed(&f->in, bytes);
	while (f->end == FRAMES_OPEN && ws_reader_next(&f->in, &p))
		if (p.kind == WS_MESSAGE)
			take_message(f, &p);
		else if (p.kind == WS_CLOSE)
			take_close(f, &p);
		else if (p.kind == WS_BROKEN)
			fail(f, CODE_PROTOCOL);
		else if (p.first == WS_PING_FRAME)
			put(f, WS_PONG_FRAME, p.payload);
		else
			f->pong_received |= str_eq(p.payload, ping_payload(f));
	if (f->end == FRAMES_OPEN && f->in.cut) /* before all of it has arrived */
		fail(f, CODE_TOO_LARGE);
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
