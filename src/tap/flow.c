/* The bytes of one connection: see flow.h. */
#include "tap/flow.h"

#include "base/mem.h"
#include "base/text.h"
#include "protocol/websocket_copy.h"
#include "tap/episode.h"
#include "tap/message.h"

#include <stdlib.h>

/* One request and its reply, with their storage. */
struct relayed {
	struct tap_exchange shown;         /* must be first */
	struct relayed *next;              /* requested later on the same connection */
	const struct tap_decoder *decoder; /* NULL: nobody's */
	void *d;                           /* of the decoder */
	struct buf head[2], body[2];       /* by enum tap_side */
	bool upgrade, requested, replied;  /* replied: the reply is complete */
	struct sse sse;                    /* that shown.stream points to */
};

/* What was passed and is to be told: of a request or a reply, by its side. */
enum what {
	HEAD,
	BODY,
	END,
	SOCKET_BYTES,
	NONSENSE, /* bytes: why, constant */
};
struct passed {
	enum what what;
	enum tap_side from;
	struct relayed *x;
	struct str bytes;
};

struct tap_reader {
	struct clock clock;
	struct tap_recording *recording;
	void **decoders; /* what start() returned, by tap_decoders */
	struct passed *passed;
	size_t count, room;
	uint64_t connections, exchanges;
};

enum mode { MODE_HTTP, MODE_SOCKET, MODE_RAW };

struct tap_flow {
	struct tap_reader *reader;
	struct tap_rewriting rewriting;
	struct tap_connection connection;
	enum mode mode;
	struct http_stream http[2];
	struct relayed *first, *last; /* without a complete reply, oldest first */
	struct relayed *asking;       /* its request is not complete */
	struct relayed *socket;       /* MODE_SOCKET */
	struct ws_copy frames[2];
	struct tap_ending ending;
	char why[124];
};

/* ---- all connections ---- */

struct tap_reader *tap_reader_new(struct clock clock, struct tap_recording *recording)
{
	struct tap_reader *r = mem_new(sizeof(*r));

	r->clock = clock;
	r->recording = recording;
	r->decoders = mem_array(tap_decoders_count, sizeof(*r->decoders));
	for (size_t i = 0; i < tap_decoders_count; i++)
		r->decoders[i] = tap_decoders[i]->start(recording);
	return r;
}

void tap_reader_free(struct tap_reader *r)
{
	if (!r)
		return;
	for (size_t i = 0; i < tap_decoders_count; i++)
		if (tap_decoders[i]->stop)
			tap_decoders[i]->stop(r->decoders[i]);
	free(r->decoders);
	free(r->passed);
	free(r);
}

const struct tap_decoder *tap_reader_find(const struct tap_reader *r,
                                          const struct tap_head *request, bool to_model, void **d)
{
	for (size_t i = 0; i < tap_decoders_count; i++) {
		*d = r->decoders[i];
		if (tap_decoders[i]->of_model == to_model && tap_decoders[i]->owns(*d, request))
			return tap_decoders[i];
	}
	return NULL;
}

static uint64_t now_ns(const struct tap_flow *f)
{
	const struct clock *c = &f->reader->clock;

	return c->monotonic_ns(c->ctx);
}

struct tap_flow *tap_flow_new(struct tap_reader *r, const struct tap_rewriting *rewriting,
                              uint16_t client_port, void *asker)
{
	struct tap_flow *f = mem_new(sizeof(*f));

	f->reader = r;
	f->rewriting = *rewriting;
	f->connection = (struct tap_connection){
		.id = ++r->connections, .client_port = client_port, .asker = asker};
	http_stream_init(&f->http[TAP_CLIENT], false);
	http_stream_init(&f->http[TAP_SERVER], true);
	ws_copy_init(&f->frames[TAP_CLIENT], TAP_BODY_MAX);
	ws_copy_init(&f->frames[TAP_SERVER], TAP_BODY_MAX);
	f->ending = (struct tap_ending){.first = TAP_NOBODY};
	return f;
}

/* ---- passing ---- */

static void note(struct tap_flow *f, struct passed p)
{
	struct tap_reader *r = f->reader;

	if (r->count == r->room) {
		r->room = r->room ? 2 * r->room : 64;
		r->passed = mem_resize(r->passed, r->room, sizeof(*r->passed));
	}
	r->passed[r->count++] = p;
}

/* A slice of `from`, in the copy of it. */
static struct str moved(struct str slice, struct str from, const struct buf *copy)
{
	return slice.p ? (struct str){copy->p + (slice.p - from.p), slice.n} : slice;
}

static struct tap_head keep_head(const struct http_part *part, struct buf *copy)
{
	buf_set(copy, part->raw);
	return (struct tap_head){.method = moved(part->method, part->raw, copy),
	                         .target = moved(part->target, part->raw, copy),
	                         .status = part->status,
	                         .fields = moved(part->fields, part->raw, copy)};
}

static void pass_request_head(struct tap_flow *f, struct http_part *part, struct buf *out)
{
	struct relayed *x = mem_new(sizeof(*x));

	x->head[TAP_CLIENT] = x->head[TAP_SERVER] = BUF(2 * BUF_MAX_SMALL);
	x->body[TAP_CLIENT] = x->body[TAP_SERVER] = BUF(TAP_BODY_MAX);
	x->shown.id = ++f->reader->exchanges;
	x->shown.connection = &f->connection;
	x->shown.request = keep_head(part, &x->head[TAP_CLIENT]);
	x->upgrade = rewrite_is_upgrade(part->fields);
	*(f->last ? &f->last->next : &f->first) = x;
	f->last = f->asking = x;
	rewrite_request(&f->rewriting, part, out);
	note(f, (struct passed){HEAD, TAP_CLIENT, x, STR_NONE});
}

/* From now on bytes are only passed. */
static void pass_nonsense(struct tap_flow *f, enum tap_side from, const struct http_part *part,
                          struct buf *out)
{
	buf_str(out, part->raw);
	buf_str(out, f->http[from].rest);
	f->http[from].rest = STR_NONE;
	f->mode = MODE_RAW;
	note(f, (struct passed){NONSENSE, from, NULL, str_from(part->why)});
}

static void begin_socket(struct tap_flow *f, struct buf *out)
{
	struct http_stream *s = &f->http[TAP_SERVER];

	f->mode = MODE_SOCKET;
	f->socket = f->first;
	buf_str(out, s->rest);
	if (s->rest.n)
		note(f, (struct passed){SOCKET_BYTES, TAP_SERVER, NULL, s->rest});
	s->rest = STR_NONE;
}

static void pass_reply_head(struct tap_flow *f, struct http_part *part, struct buf *out)
{
	struct relayed *x = f->first;

	if (!x) {
		part->why = "a reply without a request";
		pass_nonsense(f, TAP_SERVER, part, out);
		return;
	}
	rewrite_reply(&f->rewriting, part, tap_header(&x->shown.request, "host"), out);
	if (part->status < 200 && part->status != 101)
		return;
	f->http[TAP_SERVER].bodyless |= str_is(x->shown.request.method, "HEAD");
	x->shown.reply = keep_head(part, &x->head[TAP_SERVER]);
	note(f, (struct passed){HEAD, TAP_SERVER, x, STR_NONE});
	if (part->status == 101)
		begin_socket(f, out);
}

static void pass_part(struct tap_flow *f, enum tap_side from, struct http_part *part,
                      struct buf *out)
{
	struct relayed *x = from == TAP_CLIENT ? f->asking : f->first;

	switch (part->kind) {
	case HTTP_HEAD:
		(from == TAP_CLIENT ? pass_request_head : pass_reply_head)(f, part, out);
		return;
	case HTTP_BODY:
		note(f, (struct passed){BODY, from, x, part->bytes});
		break;
	case HTTP_END:
		note(f, (struct passed){END, from, x, STR_NONE});
		if (from == TAP_CLIENT) {
			f->asking = NULL;
		} else {
			f->first = x->next;
			f->last = f->first ? f->last : NULL;
		}
		break;
	case HTTP_BROKEN:
		pass_nonsense(f, from, part, out);
		return;
	case HTTP_FRAMING:
		break;
	}
	buf_str(out, part->raw);
}

struct str tap_flow_pass(struct tap_flow *f, enum tap_side from, struct str bytes, struct buf *out)
{
	struct http_stream *s = &f->http[from];
	struct http_part part;

	buf_clear(out);
	if (f->mode == MODE_SOCKET) {
		note(f, (struct passed){SOCKET_BYTES, from, NULL, bytes});
		return bytes;
	}
	if (f->mode == MODE_RAW)
		return bytes;
	http_stream_feed(s, bytes);
	while (f->mode == MODE_HTTP && http_stream_next(s, &part))
		pass_part(f, from, &part, out);
	return buf_view(out);
}

/* ---- telling ---- */

static void drop(struct relayed *x)
{
	sse_release(&x->sse);
	BUFS_RELEASE(&x->head[TAP_CLIENT], &x->head[TAP_SERVER], &x->body[TAP_CLIENT],
	             &x->body[TAP_SERVER]);
	free(x);
}

static void close_exchange(struct relayed *x, const struct tap_ending *e)
{
	if (x->decoder && x->decoder->closed)
		x->decoder->closed(x->d, &x->shown, e);
	drop(x);
}

static void tell_request(struct tap_flow *f, struct relayed *x)
{
	x->shown.asked_ns = now_ns(f);
	if (x->decoder && x->decoder->request)
		x->decoder->request(x->d, &x->shown);
}

static void tell_body(struct relayed *x, enum tap_side from, struct str bytes)
{
	struct tap_bytes *shown =
		from == TAP_CLIENT ? &x->shown.request_body : &x->shown.reply_body;
	struct buf *body = &x->body[from];
	size_t room = body->max - body->n;

	if (from == TAP_SERVER && x->shown.stream) {
		struct sse_event event;

		sse_feed(&x->sse, bytes);
		while (sse_next(&x->sse, &event))
			x->decoder->event(x->d, &x->shown, &event);
	} else if (x->decoder) {
		buf_add(body, bytes.p, bytes.n < room ? bytes.n : room);
		shown->bytes = buf_view(body);
		shown->cut |= bytes.n > room;
	}
}

static void tell_reply_head(struct tap_flow *f, struct relayed *x)
{
	struct tap_head *h = &x->shown.reply;

	x->shown.replied_ns = now_ns(f);
	x->shown.reply_body.encoded = tap_header(h, "content-encoding").n > 0;
	if (x->decoder && x->decoder->event && !x->shown.reply_body.encoded &&
	    str_starts(tap_header(h, "content-type"), STR("text/event-stream"))) {
		sse_init(&x->sse, TAP_EVENT_MAX);
		x->shown.stream = &x->sse;
	}
	if (x->decoder && x->decoder->head)
		x->decoder->head(x->d, &x->shown);
}

static const struct tap_ending complete = {.first = TAP_NOBODY};

static void tell_reply(struct tap_flow *f, struct relayed *x)
{
	x->shown.replied_ns = now_ns(f);
	x->replied = true;
	if (x->decoder && x->decoder->reply)
		x->decoder->reply(x->d, &x->shown);
	if (x->requested)
		close_exchange(x, &complete);
}

static void tell_request_end(struct tap_flow *f, struct relayed *x)
{
	x->requested = true;
	if (x->replied) /* the server did not wait for all of it */
		close_exchange(x, &complete);
	else if (!x->upgrade)
		tell_request(f, x);
}

static void set_ending(struct tap_flow *f, enum tap_side first, struct str why)
{
	if (f->ending.first == TAP_NOBODY) {
		text_copy(f->why, sizeof(f->why), why);
		f->ending.first = first;
		f->ending.why = str_from(f->why);
	}
}

/* The messages in the bytes that one side of a WebSocket sent. */
static void tell_messages(struct tap_flow *f, enum tap_side from, struct str bytes)
{
	struct ws_copy *c = &f->frames[from];
	struct relayed *x = f->socket;
	struct ws_part part;

	ws_copy_feed(c, bytes);
	while (x && ws_copy_next(c, &part)) {
		struct tap_bytes m = {.bytes = part.bytes, .cut = part.cut, .binary = part.binary};

		if (part.kind == WS_MESSAGE && x->decoder && x->decoder->message) {
			x->decoder->message(x->d, &x->shown, from, &m);
		} else if (part.kind == WS_CLOSE && f->ending.first == TAP_NOBODY) {
			set_ending(f, from, part.bytes);
			f->ending.code = part.code;
		} else if (part.kind == WS_BROKEN) {
			tap_remark(f->reader->recording, &f->connection, part.why);
		}
	}
}

static void tell_request_head(struct tap_flow *f, struct relayed *x)
{
	struct tap_head *h = &x->shown.request;

	x->decoder = tap_reader_find(f->reader, h, f->rewriting.to_model, &x->d);
	x->shown.request_body.encoded = tap_header(h, "content-encoding").n > 0;
	if (x->upgrade)
		tell_request(f, x);
}

static void tell_one(struct tap_flow *f, const struct passed *p)
{
	bool asks = p->from == TAP_CLIENT;

	switch (p->what) {
	case HEAD:
		(asks ? tell_request_head : tell_reply_head)(f, p->x);
		break;
	case BODY:
		tell_body(p->x, p->from, p->bytes);
		break;
	case END:
		(asks ? tell_request_end : tell_reply)(f, p->x);
		break;
	case SOCKET_BYTES:
		tell_messages(f, p->from, p->bytes);
		break;
	case NONSENSE:
		tap_remark(f->reader->recording, &f->connection,
		           p->bytes.p ? p->bytes.p : "it ended within a head");
		break;
	}
}

void tap_flow_tell(struct tap_flow *f)
{
	struct tap_reader *r = f->reader;

	for (size_t i = 0; i < r->count; i++)
		tell_one(f, &r->passed[i]);
	r->count = 0;
}

/* ---- the end ---- */

/* Ends all exchanges that are open. */
static void close_all(struct tap_flow *f)
{
	struct relayed *x = f->first;

	if (f->asking && f->asking->replied) /* no longer in the list */
		close_exchange(f->asking, &f->ending);
	f->asking = f->first = f->last = f->socket = NULL;
	while (x) {
		struct relayed *next = x->next;

		x->shown.request_body.unended = !x->requested;
		x->shown.reply_body.unended = x->shown.reply.status != 0;
		close_exchange(x, &f->ending);
		x = next;
	}
}

struct str tap_flow_ended(struct tap_flow *f, enum tap_side side, bool lost)
{
	struct str held = STR_NONE;
	struct http_part part;
	bool socket = f->mode == MODE_SOCKET;

	if (!lost && f->mode == MODE_HTTP && http_stream_finish(&f->http[side], &part)) {
		held = part.raw;
		if (part.kind == HTTP_BROKEN) {
			f->mode = MODE_RAW;
			note(f, (struct passed){NONSENSE, side, NULL, STR_NONE});
		} else if (side == TAP_SERVER) {
			AUTO_BUF nothing = BUF(0);

			pass_part(f, side, &part, &nothing);
		}
		tap_flow_tell(f);
	}
	if (f->ending.first == TAP_NOBODY) {
		set_ending(f, side, STR_NONE);
		f->ending.lost = lost || socket;
	}
	if (socket) {
		f->mode = MODE_RAW;
		close_all(f);
	}
	return held;
}

void tap_flow_unreachable(struct tap_flow *f, const char *why)
{
	set_ending(f, TAP_SERVER, str_from(why));
	f->ending.unreachable = true;
}

bool tap_flow_is_socket(const struct tap_flow *f)
{
	return f->mode == MODE_SOCKET;
}

bool tap_flow_is_between_messages(const struct tap_flow *f)
{
	return f->mode == MODE_SOCKET && ws_copy_is_idle(&f->frames[TAP_CLIENT]) &&
	       ws_copy_is_idle(&f->frames[TAP_SERVER]);
}

bool tap_flow_is_complete(const struct tap_flow *f)
{
	return f->mode == MODE_RAW ||
	       (f->mode == MODE_SOCKET ? ws_copy_is_idle(&f->frames[TAP_CLIENT])
	                               : !f->asking && http_stream_is_idle(&f->http[TAP_CLIENT]));
}

bool tap_flow_awaits_reply(const struct tap_flow *f)
{
	return f->first && f->first->requested;
}

bool tap_flow_is_idle(const struct tap_flow *f)
{
	return f->mode == MODE_HTTP && !f->first && !f->asking &&
	       http_stream_is_idle(&f->http[TAP_CLIENT]);
}

void tap_flow_free(struct tap_flow *f, bool stopped)
{
	if (!f)
		return;
	f->ending.stopped = stopped;
	close_all(f);
	const struct tap_reader *r = f->reader;
	for (size_t i = 0; i < tap_decoders_count; i++)
		if (tap_decoders[i]->left)
			tap_decoders[i]->left(r->decoders[i], &f->connection, &f->ending);
	for (int i = 0; i < 2; i++) {
		http_stream_release(&f->http[i]);
		ws_copy_release(&f->frames[i]);
	}
	free(f);
}
