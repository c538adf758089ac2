/* One request to a model and its reply: see chat.h. */
#include "policy/llm/chat.h"

#include "base/log.h"
#include "base/text.h"
#include "json/write.h"
#include "net/http.h"
#include "policy/llm/completion.h"
#include "protocol/sse.h"

#define FIRST_WAIT_MS 500
#define LAST_WAIT_MS  8000
/* If the server asks for a longer wait, the request fails instead. */
#define RETRY_AFTER_MAX_MS 60000
#define FAILURE_BODY_MAX   ((size_t)64 << 10)

void chat_add_key(const struct llm_conf *conf, struct buf *authorization, const char **headers,
                  size_t *count)
{
	if (conf->key) {
		buf_printf(authorization, "%s%s", conf->api->key_header, conf->key);
		headers[(*count)++] = buf_cstr(authorization);
	}
	if (conf->api->header)
		headers[(*count)++] = conf->api->header;
}

void chat_init(struct chat *c, const struct llm_conf *conf, struct io *io,
               struct event_queue *events, uint64_t stream)
{
	*c = (struct chat){.conf = conf,
	                   .io = io,
	                   .events = events,
	                   .authorization = BUF(BUF_MAX_SMALL),
	                   .body = BUF(CHAT_REPLY_MAX),
	                   .last_message = BUF(BUF_MAX_SMALL)};
	rng_seed(&c->rng, 0, stream);
	c->headers[c->header_count++] = "Content-Type: application/json";
	c->headers[c->header_count++] =
		conf->stream ? "Accept: text/event-stream" : "Accept: application/json";
	chat_add_key(conf, &c->authorization, c->headers, &c->header_count);
}

void chat_release(struct chat *c)
{
	BUFS_RELEASE(&c->authorization, &c->body, &c->last_message);
}

/* ---- one attempt ---- */

struct attempt {
	struct chat_reply *reply;
	struct chat_failure *failure;
	bool answered;
	uint64_t retry_after_ms; /* 0: not given */
};

/* One event of any API. Invalid JSON is reported by chat_stream_add. */
static int on_event(struct chat *c, struct chat_stream *s, struct str data, struct error *err)
{
	if (!c->conf->api->event || !json_is_valid(data))
		return chat_stream_add(s, data, err);
	c->conf->api->event(data, s);
	return chat_stream_check(s, err);
}

static int feed(struct chat *c, struct sse *sse, struct chat_stream *s, struct str piece, bool *any,
                struct error *err)
{
	struct sse_event event;

	sse_feed(sse, piece);
	while (sse_next(sse, &event)) {
		*any = true;
		if (on_event(c, s, event.data, err))
			return -1;
		llm_usage_count(c->usage, false);
	}
	return sse->too_large ? error_set(err, FAIL_PROTOCOL,
	                                  "a chunk of the model's stream is over %zu MiB",
	                                  CHAT_REPLY_MAX >> 20)
	                      : 0;
}

/* Is the partial reply a turn? Yes if it has calls: they are recorded, and the model is told
   that they were not executed. No if it has only text: a call might have followed, and retrying
   costs no step. */
static bool is_reply(const struct chat_stream *s, bool ended_well)
{
	return (ended_well && s->finish_reason.n) || s->call_count > 0;
}

/* The stream ended without a reply. start: its first bytes. */
static int no_reply(bool any, struct str start, struct error *err)
{
	AUTO_BUF text = BUF(BUF_MAX_SMALL);

	text_escape_cut(&text, start, 120);
	return error_set(err, FAIL_TRANSPORT, "the model's stream %s%s%s",
	                 any       ? "ended without a finish reason"
	                 : start.n ? "has no complete event (it starts with: "
	                           : "is empty",
	                 any ? "" : buf_cstr(&text), !any && start.n ? ")" : "");
}

/* Reads until [DONE] or the end. */
static int read_stream(struct chat *c, struct http_exchange *x, struct attempt *a,
                       struct error *err)
{
	struct chat_stream s;
	struct sse sse;
	struct str piece;
	int more = 0, bad = 0;
	bool any = false;

	buf_clear(&c->body);
	chat_stream_init(&s);
	sse_init(&sse, CHAT_REPLY_MAX);
	while (!bad && !s.done && (more = http_read(x, &piece, err)) > 0) {
		if (!c->body.n)
			buf_str(&c->body, piece); /* for messages */
		bad = feed(c, &sse, &s, piece, &any, err);
	}
	struct str failure = chat_stream_failure(&s);
	bool cut = more < 0;
	if (cut && err->kind != FAIL_TRANSPORT) {
		bad = -1;
	} else if (!bad && failure.p) {
		chat_failure_in_body(a->failure, 500, failure);
	} else if (!bad && is_reply(&s, !cut)) {
		chat_stream_reply(&s, !cut, a->reply);
		a->answered = true;
	} else if (!bad) {
		bad = cut ? -1 : no_reply(any, buf_view(&c->body), err);
	}
	sse_release(&sse);
	chat_stream_release(&s);
	return bad;
}

/* An error sent with status 200. */
static bool is_error(struct str body)
{
	return !json_is_null(JSON_GET(body, "error")) && json_count(JSON_GET(body, "choices")) == 0;
}

/* A whole reply of another API than chat completions. */
static int read_other(struct chat *c, struct str body, struct attempt *a, struct error *err)
{
	struct chat_stream s;

	chat_stream_init(&s);
	a->answered = c->conf->api->reply(body, &s);
	int failed = a->answered ? chat_stream_check(&s, err)
	                         : error_set(err, FAIL_PROTOCOL, "the reply is not one of %s",
	                                     c->conf->api->help);
	a->answered = !failed;
	if (a->answered)
		chat_stream_reply(&s, true, a->reply);
	chat_stream_release(&s);
	return failed;
}

static int read_body(struct chat *c, struct http_exchange *x, struct attempt *a, struct error *err)
{
	struct str body;

	buf_clear(&c->body);
	if (http_read_all(x, &c->body, err))
		return -1;
	body = text_trim(buf_view(&c->body));
	bool valid = json_is_valid(body);

	/* chat completions: read as a reply first, because most are not errors */
	if (valid && !c->conf->api->reply && chat_reply_take(body, a->reply, err) == 0) {
		a->answered = true;
		return 0;
	}
	if (valid && is_error(body)) {
		chat_failure_in_body(a->failure, 400, body);
		return 0;
	}
	if (c->conf->api->reply && valid)
		return read_other(c, body, a, err);
	return chat_reply_read(body, a->reply, err); /* for its error */
}

/* The status alone is enough, even if the body cannot be read. */
static int read_refusal(struct chat *c, struct http_exchange *x, int status, struct attempt *a,
                        struct error *err)
{
	struct str piece, body;
	int more = 0;

	buf_clear(&c->body);
	while (c->body.n < FAILURE_BODY_MAX && (more = http_read(x, &piece, err)) > 0)
		buf_str(&c->body, piece);
	if (more < 0 && (err->kind == FAIL_INTERRUPTED || err->kind == FAIL_SYSTEM))
		return -1;
	body = buf_view(&c->body);
	body.n = body.n < FAILURE_BODY_MAX ? body.n : FAILURE_BODY_MAX;
	a->retry_after_ms = http_retry_after_ms(x);
	chat_failure_from_reply(a->failure, status, http_media_type(x), body);
	if (status < 400)
		chat_failure_redirected(a->failure, http_header(x, "Location"));
	return 0;
}

static int read_reply(struct chat *c, struct http_exchange *x, struct attempt *a, struct error *err)
{
	if (http_wait_headers(x, err))
		return -1;
	int status = http_status(x);
	if (status < 200 || status > 299)
		return read_refusal(c, x, status, a, err);
	return http_media_is(x, "text/event-stream") ? read_stream(c, x, a, err)
	                                             : read_body(c, x, a, err);
}

/* 0: *a has the result. -1: interrupted, or a local failure. */
static int attempt(struct chat *c, struct str body, struct attempt *a, struct error *err)
{
	struct http_request q = {.method = "POST",
	                         .url = c->conf->url,
	                         .headers = c->headers,
	                         .header_count = c->header_count,
	                         .body = body,
	                         .timeout_ms = c->conf->timeout_ms,
	                         .max_bytes = CHAT_REPLY_MAX,
	                         .may_repeat = true,
	                         .trust = c->conf->insecure ? TRUST_ANY : TRUST_VALID};
	struct http_exchange *x = NULL;

	if (http_begin(c->io, &q, &x, err))
		return -1;
	llm_usage_count(c->usage, true);
	int failed = read_reply(c, x, a, err);
	if (http_repeats(x))
		events_push(c->events, EVENT_RETRY, STR(EVENTS_RETRY));
	http_drain(x);
	if (!failed)
		return 0;
	if (err->kind == FAIL_INTERRUPTED || err->kind == FAIL_SYSTEM || err->kind == FAIL_USAGE ||
	    err->kind == FAIL_INPUT) {
		return -1;
	}
	chat_failure_from_error(a->failure, err);
	return 0;
}

/* ---- retries ---- */

static uint64_t wait_before(struct chat *c, unsigned tries, uint64_t retry_after_ms)
{
	uint64_t wait = FIRST_WAIT_MS;

	if (retry_after_ms)
		return retry_after_ms;
	while (--tries && wait < LAST_WAIT_MS)
		wait *= 2;
	wait = wait < LAST_WAIT_MS ? wait : LAST_WAIT_MS;
	return (uint64_t)((double)wait * (0.75 + rng_unit(&c->rng) / 2));
}

static void note_retry(struct chat *c, const struct chat_failure *f, unsigned tries,
                       uint64_t wait_ms)
{
	AUTO_BUF detail = BUF(BUF_MAX_SMALL);

	json_pack(&detail,
	          "{what:'model',attempt:%d,class:%t,http_status:%d,message:%s,wait_ms:%i}",
	          (int)tries, chat_failure_name(f->class), f->status, buf_view(&f->message),
	          (int64_t)wait_ms);
	events_push_json(c->events, EVENT_RETRY, &detail);
	log_warn("the model did not reply (%s: %s); retrying in %llu ms",
	         chat_failure_name(f->class), buf_cstr(&f->message), (unsigned long long)wait_ms);
}

/* If a server fails twice with the same message although it has replied before, the cause is
   probably in the history. The first request has no such history. */
static void check_repeated_failure(struct chat *c, struct chat_failure *f, unsigned tries)
{
	if (tries > 1 && c->replied && f->class == CHAT_SERVER && f->message.n &&
	    str_eq(buf_view(&f->message), buf_view(&c->last_message))) {
		f->class = CHAT_POISON;
	}
	buf_set(&c->last_message, buf_view(&f->message));
}

static int ask(struct chat *c, struct str body, struct chat_reply *reply,
               struct chat_failure *failure, bool *answered, struct error *err)
{
	for (unsigned tries = 1;; tries++) {
		struct attempt a = {.reply = reply, .failure = failure};

		*reply = (struct chat_reply){.calls = NULL};
		if (attempt(c, body, &a, err))
			return -1;
		*answered = a.answered;
		if (a.answered)
			return 0;
		check_repeated_failure(c, failure, tries);
		bool again = tries <= chat_failure_retries(failure->class, c->conf->retries);
		if (again && a.retry_after_ms > RETRY_AFTER_MAX_MS) {
			buf_printf(&failure->message,
			           " (retry-after is %llu s, the maximum wait is %d s)",
			           (unsigned long long)a.retry_after_ms / 1000,
			           RETRY_AFTER_MAX_MS / 1000);
			again = false;
		}
		if (!again)
			return 0;
		uint64_t wait = wait_before(c, tries, a.retry_after_ms);
		note_retry(c, failure, tries, wait);
		if (io_wait(c->io, NULL, wait, err))
			return -1;
	}
}

int chat_ask(struct chat *c, struct str body, struct chat_reply *reply,
             struct chat_failure *failure, bool *answered, struct error *err)
{
	*answered = false;
	*reply = (struct chat_reply){.calls = NULL};
	if (llm_usage_denied(c->usage, failure))
		return 0;
	AUTO_BUF request = BUF(BUF_MAX_MESSAGE);

	if (c->conf->api->request) {
		c->conf->api->request(body, &request);
		body = buf_view(&request);
	}
	int failed = ask(c, body, reply, failure, answered, err);
	llm_usage_reply(c->usage, !failed && *answered, reply->usage);
	c->replied |= !failed && *answered;
	if (!failed && !*answered && failure->class == CHAT_AUTH && failure->status == 401)
		llm_usage_deny(c->usage, failure);
	return failed;
}
