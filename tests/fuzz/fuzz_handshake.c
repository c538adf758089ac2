/* Any bytes as the reply to a WebSocket's opening handshake: the result does not depend on
   how it is split, a head never extends beyond the bytes, and only a 101 with the right key
   opens the connection. The first byte of the input selects the size of the pieces. */
#include "net/handshake.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
	if (!holds)
		abort();
}

struct outcome {
	int whole, status;
	size_t head;
	struct buf rest;
	char why[sizeof(((struct error *)0)->text)];
};

static void check_opened(const struct handshake *h)
{
	struct str head = buf_view(&h->fields);

	require(h->status >= 0 && h->status <= 999);
	require(h->status < 100 || h->status > 199 || h->status == 101);
	if (h->status == 101) {
		require(str_is(http_field(head, "sec-websocket-accept"), h->accept));
		require(!http_field(head, "Sec-WebSocket-Extensions").n);
	}
}

static struct outcome shake(struct str bytes, size_t at_a_time)
{
	static const unsigned char key[HANDSHAKE_KEY_BYTES];
	struct outcome o = {.rest = BUF(BUF_MAX_MESSAGE)};
	struct handshake h;
	struct error err = {0};

	require(handshake_begin(&h, "http://127.0.0.1:1/ws", "fuzz", NULL, 0, key, &err) == 0);
	require(strcmp(h.accept, "ICX+Yqv66kxgM0FcWaLWlFLwTAI=") == 0);
	while (bytes.n && o.whole == 0) {
		struct str piece = {bytes.p, bytes.n < at_a_time ? bytes.n : at_a_time};

		o.whole = handshake_feed(&h, piece, &err);
		bytes = str_skip(bytes, piece.n);
	}
	require(o.whole >= 0 || (err.kind == FAIL_PROTOCOL && err.text[0]));
	if (o.whole > 0) {
		check_opened(&h);
		o.status = h.status;
		o.head = h.fields.n;
		buf_str(&o.rest, buf_view(&h.rest));
		buf_str(&o.rest, bytes);
	}
	snprintf(o.why, sizeof(o.why), "%s", o.whole < 0 ? err.text : "");
	handshake_release(&h);
	return o;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str bytes = {(const char *)data + 1, size ? size - 1 : 0};
	struct outcome whole = shake(bytes, bytes.n), split = shake(bytes, size ? data[0] + 1u : 1);

	/* in one piece, headers may be over the cap at which pieces stop */
	if (size < BUF_MAX_SMALL / 2) {
		require(whole.whole == split.whole && whole.status == split.status);
		require(whole.head == split.head && strcmp(whole.why, split.why) == 0);
		require(str_eq(buf_view(&whole.rest), buf_view(&split.rest)));
	}
	buf_release(&whole.rest);
	buf_release(&split.rest);
	return 0;
}
