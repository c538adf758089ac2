/* What the tap reads from a copy of a connection's bytes: however the input is split, the parts of HTTP
   are the same, their raw bytes are the input, and the messages of a WebSocket are the same. The
   first byte selects requests, replies or frames, the second the sizes of the pieces. */
#include "protocol/http_stream.h"
#include "protocol/websocket_copy.h"

#include <stdlib.h>

#define CAP 96

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
	if (!holds)
		abort();
}

struct seen {
	struct buf raw, told;
};

static void tell_http(struct http_stream *s, struct seen *seen)
{
	struct http_part p;

	while (http_stream_next(s, &p)) {
		buf_str(&seen->raw, p.raw);
		if (p.kind == HTTP_BODY) {
			buf_str(&seen->told, p.bytes);
		} else if (p.kind == HTTP_HEAD || p.kind == HTTP_END) {
			buf_printf(&seen->told, "[%d %d]", (int)p.kind, p.status);
			buf_str(&seen->told, http_field(p.fields, "content-length"));
		}
	}
}

static void tell_frames(struct ws_copy *c, struct seen *seen)
{
	struct ws_part p;

	while (ws_copy_next(c, &p)) {
		require(p.bytes.n <= (p.kind == WS_MESSAGE ? CAP : 125));
		buf_printf(&seen->told, "[%d %d %d %zu]", (int)p.kind, p.cut, p.code, p.bytes.n);
		buf_str(&seen->told, p.bytes);
	}
}

/* pieces 0: all in one piece. Each is a copy of exactly its size. */
static void run(uint8_t mode, struct str input, uint32_t pieces, struct seen *seen)
{
	struct http_stream s;
	struct http_part last;
	struct ws_copy c;

	http_stream_init(&s, mode == 1);
	ws_copy_init(&c, CAP);
	for (size_t n; input.n; input = str_skip(input, n)) {
		n = input.n;
		if (pieces) {
			pieces = pieces * 1664525u + 1013904223u;
			n = (pieces >> 24 & 15) + 1 < n ? (pieces >> 24 & 15) + 1 : n;
		}
		char *copy = malloc(n);
		require(copy != NULL);
		memcpy(copy, input.p, n);
		if (mode == 2) {
			ws_copy_feed(&c, (struct str){copy, n});
			tell_frames(&c, seen);
		} else {
			http_stream_feed(&s, (struct str){copy, n});
			tell_http(&s, seen);
		}
		free(copy);
	}
	if (http_stream_finish(&s, &last))
		buf_str(&seen->raw, last.raw);
	http_stream_release(&s);
	ws_copy_release(&c);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct seen whole = {BUF(BUF_MAX_MESSAGE), BUF(BUF_MAX_MESSAGE)}, split = whole;
	uint8_t mode = size ? data[0] % 3 : 0;

	if (size < 2)
		return 0;
	struct str input = {(const char *)data + 2, size - 2};
	run(mode, input, 0, &whole);
	run(mode, input, data[1] + 1u, &split);
	if (mode != 2) {
		require(str_eq(buf_view(&whole.raw), input));
		require(str_eq(buf_view(&split.raw), input));
	}
	require(str_eq(buf_view(&whole.told), buf_view(&split.told)));
	buf_release(&whole.raw);
	buf_release(&whole.told);
	buf_release(&split.raw);
	buf_release(&split.told);
	return 0;
}
