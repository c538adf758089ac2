/* Questions between the client's messages: see ask_state.h. */
#include "tap/ask_state.h"

#include "protocol/websocket_copy.h"

void ask_state_put(struct ask_state *a, struct str question, struct buf *out)
{
	/* masking protects proxies that read no WebSocket; a constant will do for a server that is named */
	static const unsigned char mask[4] = {0x2a, 0x51, 0x17, 0x6d};

	*a = (struct ask_state){.awaited = true};
	ws_copy_put_masked(out, question, mask);
}

/* The bytes of the head that are still missing. */
static size_t head_left(const struct ask_state *a)
{
	unsigned char size = a->have > 1 ? (unsigned char)a->head[1] & 127 : 0;

	return (size == 126 ? 4 : size == 127 ? 10 : 2) - a->have;
}

static void begin_frame(struct ask_state *a, struct buf *out)
{
	unsigned char first = (unsigned char)a->head[0], size = (unsigned char)a->head[1] & 127;

	a->left = size < 126 ? size : 0;
	for (size_t i = 2; i < a->have; i++)
		a->left = a->left << 8 | (unsigned char)a->head[i];
	a->control = first & 8;
	a->fin = first & 128;
	if (a->control)
		buf_add(out, a->head, a->have);
}

bool ask_state_filter(struct ask_state *a, struct str bytes, struct buf *out)
{
	while (bytes.n && a->awaited) {
		size_t missing = head_left(a), n = bytes.n < missing ? bytes.n : missing;

		memcpy(a->head + a->have, bytes.p, n);
		a->have += n;
		bytes = str_skip(bytes, n);
		if (head_left(a))
			continue;
		if (missing)
			begin_frame(a, out);
		n = bytes.n < a->left ? bytes.n : (size_t)a->left;
		buf_add(out, bytes.p, a->control ? n : 0);
		bytes = str_skip(bytes, n);
		a->left -= n;
		a->have = a->left ? a->have : 0;
		a->awaited = a->left || a->control || !a->fin;
	}
	buf_str(out, bytes);
	return !a->awaited;
}
