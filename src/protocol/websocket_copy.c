/* Frames of a WebSocket that others speak: see websocket_copy.h. */
#include "protocol/websocket_copy.h"

#define CONTROL_MAX 125

enum { OPCODE_BINARY = 2, OPCODE_CLOSE = 8 };

void ws_copy_init(struct ws_copy *c, size_t max_message)
{
	*c = (struct ws_copy){
		.max_message = max_message, .message = BUF(max_message), .frame = BUF(CONTROL_MAX)};
}

void ws_copy_release(struct ws_copy *c)
{
	BUFS_RELEASE(&c->message, &c->frame);
}

void ws_copy_feed(struct ws_copy *c, struct str piece)
{
	c->rest = piece;
}

bool ws_copy_is_idle(const struct ws_copy *c)
{
	return !c->in_frame && !c->have && (!c->in_message || c->returned);
}

static bool broken(struct ws_copy *c, const char *why, struct ws_part *out)
{
	c->broken = true;
	*out = (struct ws_part){.kind = WS_BROKEN, .why = why};
	return true;
}

/* ---- headers ---- */

static size_t header_length(const struct ws_copy *c)
{
	unsigned length = c->have > 1 ? c->header[1] & 0x7f : 0;

	return 2 +
	       (length == 126   ? 2u
	        : length == 127 ? 8u
	                        : 0u) +
	       (c->have > 1 && c->header[1] & 0x80 ? 4u : 0u);
}

static uint64_t number(const unsigned char *p, size_t n)
{
	uint64_t v = 0;

	for (size_t i = 0; i < n; i++)
		v = v << 8 | p[i];
	return v;
}

static const char *begin_frame(struct ws_copy *c)
{
	const unsigned char *h = c->header;
	unsigned length = h[1] & 0x7f;
	size_t more = length == 126 ? 2 : length == 127 ? 8 : 0;

	c->opcode = h[0] & 0x0f;
	c->control = (c->opcode & 8) != 0;
	c->fin = (h[0] & 0x80) != 0;
	c->masked = (h[1] & 0x80) != 0;
	c->left = more ? number(h + 2, more) : length;
	c->at = 0;
	memcpy(c->mask, h + 2 + more, c->masked ? 4 : 0);
	c->in_frame = true;
	c->have = 0;
	if (h[0] & 0x70)
		return "a frame uses an extension that was not agreed on";
	if ((c->opcode > OPCODE_BINARY && c->opcode < OPCODE_CLOSE) || c->opcode > 10)
		return "a frame of an unknown kind";
	if (c->control)
		return c->left > CONTROL_MAX || !c->fin ? "a control frame that is too long" : NULL;
	if ((c->opcode == 0) != c->in_message) {
		return c->opcode ? "a message begins within another one"
		                 : "the continuation of no message";
	}
	if (c->left >> 63)
		return "a frame of an impossible length";
	if (c->opcode) {
		c->in_message = true;
		c->binary = c->opcode == OPCODE_BINARY;
		c->cut = false;
		buf_clear(&c->message);
	}
	return NULL;
}

/* False: it is not complete. */
static bool read_header(struct ws_copy *c, const char **why)
{
	while (c->have < header_length(c) || c->have < 2) {
		if (!c->rest.n)
			return false;
		c->header[c->have++] = (unsigned char)c->rest.p[0];
		c->rest = str_skip(c->rest, 1);
	}
	*why = begin_frame(c);
	return true;
}

/* ---- payloads ---- */

static void unmask(char *p, size_t n, const unsigned char mask[4], uint64_t at)
{
	unsigned char turned[8];
	uint64_t word, key;
	size_t i = 0;

	for (size_t k = 0; k < sizeof(turned); k++)
		turned[k] = mask[(at + k) & 3];
	memcpy(&key, turned, sizeof(key));
	for (; i + sizeof(word) <= n; i += sizeof(word)) {
		memcpy(&word, p + i, sizeof(word));
		word ^= key;
		memcpy(p + i, &word, sizeof(word));
	}
	for (; i < n; i++)
		p[i] = (char)((unsigned char)p[i] ^ turned[i & 7]);
}

/* Appends as much as fits, unmasked; false: not all did. */
static bool keep(struct ws_copy *c, struct str piece, struct buf *to)
{
	size_t room = to->max - to->n, n = piece.n < room ? piece.n : room, before = to->n;

	buf_add(to, piece.p, n);
	if (c->masked && n)
		unmask(to->p + before, n, c->mask, c->at);
	return n == piece.n;
}

static bool end_message(struct ws_copy *c, struct str bytes, struct ws_part *out)
{
	*out = (struct ws_part){
		.kind = WS_MESSAGE, .bytes = bytes, .binary = c->binary, .cut = c->cut};
	c->in_message = false;
	c->returned = true;
	return true;
}

static bool end_frame(struct ws_copy *c, struct ws_part *out)
{
	struct str body = buf_view(&c->frame);

	c->in_frame = false;
	if (!c->control)
		return c->fin && end_message(c, buf_view(&c->message), out);
	*out = (struct ws_part){.kind = c->opcode == OPCODE_CLOSE ? WS_CLOSE : WS_OTHER,
	                        .code = 1005,
	                        .bytes = str_skip(body, 2),
	                        .first = 0x80 | c->opcode,
	                        .payload = body};
	if (body.n >= 2)
		out->code = (int)number((const unsigned char *)body.p, 2);
	return true;
}

/* A whole message that is not masked and lies in one piece is returned in place. */
static bool in_place(struct ws_copy *c, struct ws_part *out)
{
	if (c->control || c->masked || !c->fin || !c->opcode || c->at || c->rest.n < c->left ||
	    c->left > c->max_message) {
		return false;
	}
	struct str whole = {c->rest.p, (size_t)c->left};

	c->rest = str_skip(c->rest, whole.n);
	c->in_frame = false;
	return end_message(c, whole, out);
}

/* True: a part. */
static bool read_payload(struct ws_copy *c, struct ws_part *out)
{
	if (in_place(c, out))
		return true;
	struct str piece = {c->rest.p, c->left < c->rest.n ? (size_t)c->left : c->rest.n};

	if (c->control && c->at == 0)
		buf_clear(&c->frame);
	if (!keep(c, piece, c->control ? &c->frame : &c->message))
		c->cut = true;
	c->at += piece.n;
	c->left -= piece.n;
	c->rest = str_skip(c->rest, piece.n);
	return !c->left && end_frame(c, out);
}

bool ws_copy_next(struct ws_copy *c, struct ws_part *out)
{
	const char *why = NULL;

	if (c->returned) { /* an idle connection holds no memory */
		buf_release(&c->message);
		c->message = BUF(c->max_message);
		c->returned = false;
	}
	while (!c->broken) {
		if (!c->in_frame && !read_header(c, &why))
			return false;
		if (why)
			return broken(c, why, out);
		if (read_payload(c, out))
			return true;
		if (c->in_frame) /* all input was read */
			return false;
	}
	return false;
}

void ws_put_frame(struct buf *out, unsigned char first, struct str payload,
                  const unsigned char mask[4])
{
	int bytes = payload.n < 126 ? 0 : payload.n < 65536 ? 2 : 8;
	size_t length = bytes == 0 ? payload.n : bytes == 2 ? 126 : 127;

	buf_char(out, (char)first);
	buf_char(out, (char)(length | (mask ? 0x80 : 0)));
	while (bytes--)
		buf_char(out, (char)(payload.n >> (8 * bytes) & 0xff));
	buf_add(out, mask, mask ? 4 : 0);
	size_t at = out->n;
	buf_str(out, payload);
	if (mask && !out->full)
		unmask(out->p + at, payload.n, mask, 0);
}
