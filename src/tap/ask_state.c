/* Questions between the client's messages: see ask_state.h. */
#include "tap/ask_state.h"

#include "protocol/websocket_copy.h"

bool ask_state_put(struct ask_state *a, uint64_t requests, struct buf *out)
{
	/* masking protects proxies that read no WebSocket; a constant will do for a server that is named */
	static const unsigned char mask[4] = {0x2a, 0x51, 0x17, 0x6d};

	if (a->count == ASK_STATE_MAX)
		return false;
	a->places[a->count++] = requests + 1;
	ws_copy_put_masked(out, STR("{\"type\":\"state\"}"), mask);
	return true;
}

static bool is_ours(const struct ask_state *a)
{
	return !a->control && a->count && a->replies + 1 == a->places[0];
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
	if (!is_ours(a))
		buf_add(out, a->head, a->have);
}

static void end_frame(struct ask_state *a)
{
	bool ours = is_ours(a);

	a->have = 0;
	if (!a->fin || a->control)
		return;
	a->replies++;
	if (ours) {
		a->count--;
		memmove(a->places, a->places + 1, a->count * sizeof(*a->places));
	}
}

void ask_state_filter(struct ask_state *a, struct str bytes, struct buf *out)
{
	while (bytes.n) {
		size_t missing = head_left(a);

		if (missing) {
			size_t n = bytes.n < missing ? bytes.n : missing;

			memcpy(a->head + a->have, bytes.p, n);
			a->have += n;
			bytes = str_skip(bytes, n);
			if (head_left(a))
				continue;
			begin_frame(a, out);
		}
		size_t n = bytes.n < a->left ? bytes.n : (size_t)a->left;
		if (!is_ours(a))
			buf_add(out, bytes.p, n);
		bytes = str_skip(bytes, n);
		a->left -= n;
		if (!a->left)
			end_frame(a);
	}
}
