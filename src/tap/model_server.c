/* Decoder of models' servers: chat completions, completions, responses and messages, whole or as a
   stream. Each choice of a reply is a turn, which joining.h relates to the environment's sessions. */
#include "base/text.h"
#include "json/write.h"
#include "policy/llm/completion.h"
#include "policy/llm/model_failure.h"
#include "tap/joining.h"
#include "tap/model_turn.h"

#include <stdlib.h>

#define CHOICES_MAX 4096 /* of one reply */

/* An exchange whose reply is read. A stream is read as it arrives: clients act on its last event, before the
   reply ends. */
struct turn_reading {
	struct tap_joiner *joiner;
	const struct tap_exchange *x;
	struct model_request *request; /* NULL: it cannot be read */
	struct chat_stream *streams;   /* one for each choice */
	size_t count;
	bool done;        /* the last event was read */
	bool told;        /* its turns were added, or why there are none */
	struct error err; /* of the stream; FAIL_NONE: none so far */
};

static void *start(struct tap_recording *r)
{
	return tap_joiner_of(r);
}

/* No more turns come. */
static void stop(void *ctx)
{
	tap_joiner_tick(ctx, true);
}

static bool owns(void *ctx, const struct tap_head *request)
{
	(void)ctx;
	return str_is(request->method, "POST") && model_is_completion(tap_path(request));
}

/* ---- choices ---- */

static size_t index_of(struct str choice, size_t position)
{
	int64_t index;

	return json_i64(JSON_GET(choice, "index"), &index) && index >= 0 ? (size_t)index : position;
}

static void add_turn(struct turn_reading *r, size_t index, size_t choices, struct chat_reply *reply)
{
	size_t each = choices / r->request->prompt_count;

	reply->usage = choices > 1 ? STR_NONE : reply->usage; /* that of all of them */
	struct model_turn *t = model_turn_new(r->request, index / (each ? each : 1), reply);
	t->replied_ns = r->x->replied_ns;
	t->row = index;
	tap_joiner_add(r->joiner, t);
}

/* A request without a usable reply. */
static void add_failure(struct turn_reading *r, const struct chat_failure *f)
{
	AUTO_BUF out = BUF(BUF_MAX_MESSAGE);

	json_pack(&out, "{what:'model',class:%t,http_status:%d,message:%s}",
	          chat_failure_name(f->class), (int)f->status, buf_view(&f->message));
	tap_joiner_fail(r->joiner, r->request, buf_view(&out));
}

static struct chat_stream *stream_at(struct turn_reading *r, size_t index)
{
	if (index >= CHOICES_MAX)
		return NULL;
	if (index >= r->count) {
		r->streams = mem_resize(r->streams, index + 1, sizeof(*r->streams));
		while (r->count <= index)
			chat_stream_init(&r->streams[r->count++]);
	}
	return &r->streams[index];
}

/* ---- whole replies ---- */

/* Of another API than chat completions. */
static int read_other(struct turn_reading *r, struct str body, struct chat_failure *f,
                      struct error *err)
{
	struct chat_stream *s = stream_at(r, 0);
	struct chat_reply reply;

	if (!r->request->api->reply(body, s))
		return error_set(err, FAIL_PROTOCOL, "the reply is not one of %s",
		                 r->request->api->help);
	if (chat_stream_failure(s).p) {
		chat_failure_in_body(f, 400, chat_stream_failure(s));
		return 0;
	}
	chat_stream_reply(s, true, &reply);
	add_turn(r, 0, 1, &reply);
	return 0;
}

static int read_whole(struct turn_reading *r, struct str body, struct chat_failure *f,
                      struct error *err)
{
	struct str choices = JSON_GET(body, "choices"), choice;
	struct chat_reply reply;

	if (r->request->api && r->request->api->reply)
		return read_other(r, body, f, err);
	size_t count = json_count(choices), position = 0;
	if (!count && !json_is_null(JSON_GET(body, "error"))) {
		chat_failure_in_body(f, 400, body);
		return 0;
	}
	if (!count)
		return error_set(err, FAIL_PROTOCOL, "the reply has no choices");
	for (size_t cursor = 0; position < CHOICES_MAX && json_next(choices, &cursor, &choice);
	     position++) {
		chat_reply_choice(choice, body, &reply);
		add_turn(r, index_of(choice, position), count, &reply);
	}
	return 0;
}

/* ---- streams ---- */

static int add_chunk(struct turn_reading *r, struct str chunk, struct error *err)
{
	struct str choices = JSON_GET(chunk, "choices"), choice;
	size_t position = 0;

	if (json_count(choices) == 0) { /* usage of all choices, or an error */
		return r->count > 1 && json_is_null(JSON_GET(chunk, "error"))
		               ? 0
		               : chat_stream_add(stream_at(r, 0), chunk, err);
	}
	for (size_t cursor = 0; json_next(choices, &cursor, &choice); position++) {
		struct chat_stream *s = stream_at(r, index_of(choice, position));

		if (s && chat_stream_choice(s, choice, chunk, err))
			return -1;
	}
	return 0;
}

static int add_event(struct turn_reading *r, struct str data, struct error *err)
{
	const struct api *api = r->request->api;
	struct json_fault fault;

	if (!data.n || str_is(data, "[DONE]")) {
		r->done = data.n > 0;
		return 0;
	}
	if (json_validate(data, &fault)) {
		return error_set(err, FAIL_PROTOCOL, "an event of its stream is not JSON: %s",
		                 fault.why);
	}
	if (api && api->event) {
		struct chat_stream *s = stream_at(r, 0);

		api->event(data, s);
		r->done = s->done;
		return chat_stream_check(s, err);
	}
	return add_chunk(r, data, err);
}

/* The turns of a stream that ended as it should. */
static int take_streams(struct turn_reading *r, struct chat_failure *f, struct error *err)
{
	struct str failure = r->count ? chat_stream_failure(&r->streams[0]) : STR_NONE;
	struct chat_reply reply;

	*err = r->err;
	if (r->err.kind != FAIL_NONE)
		return -1;
	if (r->x->stream->too_large)
		return error_set(err, FAIL_PROTOCOL, "an event of its stream is too long");
	if (failure.p) {
		chat_failure_in_body(f, 500, failure);
		return 0;
	}
	for (size_t i = 0; i < r->count; i++) {
		if (!r->streams[i].finish_reason.n) {
			return error_set(err, FAIL_TRANSPORT,
			                 "its stream ended without a finish reason");
		}
	}
	if (!r->count || (!r->done && r->x->reply_body.unended)) {
		return error_set(err, FAIL_TRANSPORT,
		                 r->count ? "its stream was cut off" : "its stream is empty");
	}
	for (size_t i = 0; i < r->count; i++) {
		chat_stream_reply(&r->streams[i], true, &reply);
		add_turn(r, i, r->count, &reply);
	}
	return 0;
}

/* ---- exchanges ---- */

static struct turn_reading *begin(struct tap_joiner *j, const struct tap_exchange *x)
{
	struct turn_reading *r = mem_new(sizeof(*r));

	r->joiner = j;
	r->x = x;
	r->request = model_request_read(x);
	r->told = !r->request;
	if (r->told)
		tap_joiner_skip(j, x->connection);
	return r;
}

static int read_reply(struct turn_reading *r, const struct tap_ending *e, struct chat_failure *f,
                      struct error *err)
{
	const struct tap_exchange *x = r->x;
	const struct tap_bytes *b = &x->reply_body;
	struct str type = tap_header(&x->reply, "content-type"), body = text_trim(b->bytes);
	struct json_fault fault;

	if (!x->reply.status) {
		return error_set(err, FAIL_TRANSPORT, "no reply: the %s %s",
		                 e->first == TAP_CLIENT ? "client" : "server",
		                 e->unreachable ? "accepts no connection"
		                                : "closed the connection");
	}
	if (x->reply.status / 100 != 2) {
		chat_failure_from_reply(f, x->reply.status, str_cut(&type, ';'), b->bytes);
		return 0;
	}
	if (b->cut || b->encoded) {
		return error_set(err, FAIL_PROTOCOL,
		                 b->cut ? "the reply is too long to be read"
		                        : "the reply is compressed");
	}
	if (x->stream)
		return take_streams(r, f, err);
	if (b->unended)
		return error_set(err, FAIL_TRANSPORT, "the connection ended within the reply");
	if (json_validate(body, &fault))
		return error_set(err, FAIL_PROTOCOL, "the reply is not JSON: %s", fault.why);
	return read_whole(r, body, f, err);
}

/* The reply is complete, or this is what there was of it. */
static void conclude(struct turn_reading *r, const struct tap_ending *e)
{
	struct chat_failure f;
	struct error err = {0};

	r->told = true;
	chat_failure_init(&f);
	int bad = read_reply(r, e, &f, &err);
	if (bad)
		chat_failure_from_error(&f, &err);
	if (bad || f.message.n || f.status)
		add_failure(r, &f);
	chat_failure_release(&f);
}

static void event(void *ctx, struct tap_exchange *x, const struct sse_event *e)
{
	static const struct tap_ending complete = {.first = TAP_NOBODY};

	if (x->reply.status / 100 != 2)
		return;
	if (!x->own)
		x->own = begin(ctx, x);
	struct turn_reading *r = x->own;
	if (!r->told && r->err.kind == FAIL_NONE && add_event(r, e->data, &r->err) == 0 && r->done)
		conclude(r, &complete);
}

/* Called at the end of any exchange. */
static void closed(void *ctx, struct tap_exchange *x, const struct tap_ending *e)
{
	struct turn_reading *r = x->own ? x->own : begin(ctx, x);

	if (!r->told)
		conclude(r, e);
	for (size_t i = 0; i < r->count; i++)
		chat_stream_release(&r->streams[i]);
	free(r->streams);
	model_request_release(r->request);
	free(r);
	x->own = NULL;
}

const struct tap_decoder tap_model_server = {
	.of_model = true,
	.owns = owns,
	.start = start,
	.stop = stop,
	.event = event,
	.closed = closed,
};
