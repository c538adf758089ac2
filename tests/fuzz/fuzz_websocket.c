/* Incoming frames: split at any position, with libwslay's context freed between the pieces,
   they give the same messages, none over the cap, and an end (not always the same one:
   libwslay detects invalid text in a Close frame at different times). The first byte of the
   input selects the sizes of the pieces, 1 to 16 bytes each. */
#include "net/websocket_internal.h"

#include <stdlib.h>
#include <unistd.h>

#define CAP 200

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Replaces libcurl's handle: the incoming bytes, and how many at a time. */
struct feed {
	const uint8_t *p;
	size_t n, due;
};

static void require(bool holds)
{
	if (!holds)
		abort();
}

static CURLcode feed_receive(struct websocket *ws, void *to, size_t room, size_t *n)
{
	struct feed *f = ws->transfer.easy;

	*n = f->n < room ? f->n : room;
	*n = *n < f->due ? *n : f->due;
	if (f->n == 0)
		return CURLE_OK; /* end of input */
	if (f->due == 0)
		return CURLE_AGAIN;
	memcpy(to, f->p, *n);
	f->p += *n;
	f->n -= *n;
	f->due -= *n;
	return CURLE_OK;
}

static CURLcode feed_transmit(struct websocket *ws, const void *bytes, size_t n, size_t *sent)
{
	(void)ws, (void)bytes;
	*sent = n;
	return CURLE_OK;
}

static struct websocket *make(struct io *io, struct feed *f)
{
	struct websocket *ws = calloc(1, sizeof(*ws));

	require(ws != NULL);
	ws->io = io;
	ws->fd = STDIN_FILENO;
	ws->receive = feed_receive;
	ws->transmit = feed_transmit;
	ws->transfer.easy = (CURL *)f;
	ws->max_bytes = CAP;
	ws->why = BUF(BUF_MAX_SMALL);
	frames_init(&ws->frames, true, CAP, BUF_MAX_MESSAGE);
	target_init(&ws->target);
	return ws;
}

static void take_all(struct websocket *ws, struct buf *told)
{
	struct websocket_message m;
	struct error err;

	while (ws->frames.first) {
		require(websocket_receive(ws, &m, 0, &err) == 1 && m.bytes.n <= CAP);
		buf_printf(told, "%zu%c:", m.bytes.n, m.binary ? 'b' : 't');
		buf_str(told, m.bytes);
	}
}

/* pieces 0: all in one piece. */
static void run(struct io *io, const uint8_t *bytes, size_t size, uint32_t pieces, struct buf *told)
{
	struct feed f = {.p = bytes, .n = size};
	struct websocket *ws = make(io, &f);

	while (ws->end == WEBSOCKET_OPEN) {
		pieces = pieces ? pieces * 1664525u + 1013904223u : 0;
		f.due = pieces ? (pieces >> 24 & 15) + 1 : size + 1;
		websocket_serve(ws);
		take_all(ws, told);
	}
	take_all(ws, told);
	require(*websocket_why(ws) && ws->frames.reason.n <= 125);
	ws->transfer.easy = NULL;
	websocket_free(ws);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct io_conf conf = {.clock = clock_real(), .stop_fd = -1};
	struct buf whole = BUF(BUF_MAX_MESSAGE), split = BUF(BUF_MAX_MESSAGE);
	struct io *io;
	struct error err;

	require(io_global_init(&err) == 0 && io_new(&conf, &io, &err) == 0);
	run(io, data + (size > 0), size - (size > 0), 0, &whole);
	run(io, data + (size > 0), size - (size > 0), size ? data[0] + 1u : 1, &split);
	require(!whole.full && str_eq(buf_view(&whole), buf_view(&split)));
	io_free(io);
	buf_release(&whole);
	buf_release(&split);
	return 0;
}
