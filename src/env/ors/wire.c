/* Exchanges with an ORS server: see wire.h. */
#include "env/ors/wire.h"

void ors_wire_init(struct ors_wire *w, struct http_json *http)
{
	*w = (struct ors_wire){.http = http, .task_id = BUF(BUF_MAX_SMALL)};
	sse_init(&w->sse, BUF_MAX_MESSAGE);
}

void ors_wire_release(struct ors_wire *w)
{
	sse_release(&w->sse);
	buf_release(&w->task_id);
}

static enum ors_stream take_event(const struct sse_event *e, struct buf *reply, struct buf *task_id)
{
	if (str_is(e->type, "task_id")) {
		buf_set(task_id, e->data);
	} else if (str_is(e->type, "chunk") || str_is(e->type, "end")) {
		buf_str(reply, e->data);
		return str_is(e->type, "end") ? ORS_END : ORS_CUT;
	} else if (str_is(e->type, "error")) {
		buf_set(reply, e->data);
		return ORS_ERROR;
	}
	return ORS_CUT;
}

enum ors_stream ors_read_events(struct sse *sse, struct str piece, struct buf *reply,
                                struct buf *task_id)
{
	enum ors_stream got = ORS_CUT;
	struct sse_event e;

	sse_feed(sse, piece);
	while (got == ORS_CUT && sse_next(sse, &e))
		got = take_event(&e, reply, task_id);
	return got;
}

static int read_stream(struct ors_wire *w, struct http_exchange *x, enum ors_stream *out,
                       struct error *err)
{
	struct str piece;
	int got = 0;

	sse_restart(&w->sse);
	buf_clear(&w->task_id);
	*out = ORS_CUT;
	while (*out == ORS_CUT && (got = http_read(x, &piece, err)) > 0)
		*out = ors_read_events(&w->sse, piece, &w->http->reply, &w->task_id);
	return got < 0 ? -1 : 0;
}

int ors_ask(struct ors_wire *w, const char *path, struct str body, uint64_t timeout_ms,
            struct ors_answer *out, struct error *err)
{
	struct http_exchange *x;
	enum ors_stream stream = ORS_NO_STREAM;
	bool is_starting = false;
	int failed;

	*out = (struct ors_answer){.stream = ORS_NO_STREAM};
	if (http_json_begin(w->http, path, body, timeout_ms, &x, &out->http, err))
		return -1;
	if (!x)
		return 0;
	if (http_media_is(x, "text/event-stream") && http_status(x) == 200) {
		failed = read_stream(w, x, &stream, err);
	} else {
		failed = http_read_all(x, &w->http->reply, err);
		is_starting = http_status(x) == 503 &&
		              str_is(http_header(x, "X-Backend-State"), "starting");
	}
	out->try_again_ms = failed ? 0 : http_retry_after_ms(x);
	if (http_json_end(w->http, x, failed, &out->http, err))
		return -1;
	out->is_starting = is_starting;
	out->stream = out->http.status ? stream : ORS_NO_STREAM;
	out->task_id = w->task_id.n && stream ? buf_view(&w->task_id) : STR_NONE;
	return 0;
}
