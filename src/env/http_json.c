/* JSON over HTTP: see http_json.h. */
#include "env/http_json.h"

#include "base/html.h"
#include "env/failure.h"

#include <stdlib.h>

void http_json_set_base(struct http_json *h, const char *url)
{
	struct str s = str_from(url);
	const char *place = strstr(url, "://");
	bool tls = str_starts(s, STR("wss:")) || str_starts(s, STR("https:"));

	s.n = strcspn(url, "?#");
	s = str_skip(s, place ? (size_t)(place - url) + 3 : 0);
	while (str_ends(s, STR("/")))
		s.n--;
	s.n -= str_ends(s, STR("/ws")) ? 3 : 0; /* the WebSocket of an OpenEnv server */
	buf_set(&h->base, tls ? STR("https://") : STR("http://"));
	buf_str(&h->base, s);
}

void http_json_init(struct http_json *h, const struct env_conf *conf, struct io *io,
                    struct event_queue *events)
{
	*h = (struct http_json){
		.io = io,
		.conf = conf,
		.events = events,
		.base = BUF(BUF_MAX_SMALL),
		.session = BUF(BUF_MAX_SMALL),
		.url = BUF(BUF_MAX_SMALL),
		.why = BUF(BUF_MAX_SMALL),
		.reply = BUF(BUF_MAX_MESSAGE),
		.headers = mem_array(conf->header_count + 2, sizeof(*h->headers)),
	};
	for (size_t i = 0; i < conf->header_count; i++)
		h->headers[i] = conf->headers[i];
	http_json_set_base(h, conf->url);
}

void http_json_release(struct http_json *h)
{
	BUFS_RELEASE(&h->base, &h->session, &h->url, &h->reply, &h->why);
	free(h->headers);
	h->headers = NULL;
}

/* ---- the exchange ---- */

/* No response, or only a part of one. */
static int no_answer(struct http_json *h, struct http_json_answer *out, struct error *err)
{
	if (!error_is_peers(err))
		return -1;
	buf_set(&h->why, str_from(err->text));
	*out = (struct http_json_answer){.late = err->kind == FAIL_TIMEOUT,
	                                 .text = buf_view(&h->why)};
	return 0;
}

int http_json_begin(struct http_json *h, const char *path, struct str body, uint64_t timeout_ms,
                    struct http_exchange **x, struct http_json_answer *out, struct error *err)
{
	size_t n = h->conf->header_count;

	if (h->session.n)
		h->headers[n++] = buf_cstr(&h->session);
	if (body.p)
		h->headers[n++] = "Content-Type: application/json";
	buf_set(&h->url, buf_view(&h->base));
	buf_text(&h->url, path);
	buf_clear(&h->reply);
	*x = NULL;
	*out = (struct http_json_answer){0};
	h->request = (struct http_request){.method = body.p ? "POST" : "GET",
	                                   .url = buf_cstr(&h->url),
	                                   .headers = h->headers,
	                                   .header_count = n,
	                                   .body = body,
	                                   .timeout_ms = timeout_ms,
	                                   .may_repeat = !body.p || h->posts_repeat,
	                                   .follow = !body.p || h->follow_posts};
	if (http_begin(h->io, &h->request, x, err))
		return -1;
	if (http_wait_headers(*x, err)) {
		int failed = http_json_end(h, *x, -1, out, err);

		*x = NULL;
		return failed;
	}
	return 0;
}

int http_json_end(struct http_json *h, struct http_exchange *x, int failed,
                  struct http_json_answer *out, struct error *err)
{
	*out = (struct http_json_answer){.status = failed ? 0 : http_status(x),
	                                 .text = buf_view(&h->reply)};
	if (http_repeats(x))
		events_push(h->events, EVENT_RETRY, STR(EVENTS_RETRY));
	http_end(x);
	if (failed)
		return no_answer(h, out, err);
	if (json_validate(out->text, &out->fault) == 0)
		out->data = out->text;
	else
		out->page = html_is_page(out->text);
	return 0;
}

int http_json_finish(struct http_json *h, struct http_exchange *x, struct http_json_answer *out,
                     struct error *err)
{
	int failed = 0;

	/* an event stream may never end */
	if (!http_media_is(x, "text/event-stream"))
		failed = http_read_all(x, &h->reply, err);
	return http_json_end(h, x, failed, out, err);
}

int http_json_ask(struct http_json *h, const char *path, struct str body,
                  struct http_json_answer *out, struct error *err)
{
	struct http_exchange *x;

	if (http_json_begin(h, path, body, h->conf->timeout_ms, &x, out, err))
		return -1;
	return x ? http_json_finish(h, x, out, err) : 0;
}

int http_json_page(struct http_json *h, const char *path, int *status, struct str *body,
                   struct error *err)
{
	struct http_json_answer a = {0};

	if (page_cache_find(h->conf->pages, path, status, body))
		return 0;
	int failed = http_json_ask(h, path, STR_NONE, &a, err);
	*status = failed ? 0 : a.status;
	*body = *status == 200 ? a.data : STR_NONE;
	page_cache_store(h->conf->pages, path, *status, *body);
	return failed;
}

/* ---- failures ---- */

void http_json_first_error(struct str errors, struct buf *text)
{
	struct str first = json_first(errors), part;
	size_t at = 0;

	for (struct str loc = JSON_GET(first, "loc"); json_next(loc, &at, &part);) {
		buf_str(text, json_type(part) == JSON_STRING ? json_inner(part) : part);
		buf_text(text, ": ");
	}
	if (json_type(JSON_GET(first, "msg")) == JSON_STRING)
		json_decode(JSON_GET(first, "msg"), text);
}

static enum error_class status_class(int status, const struct http_json_meaning *meanings)
{
	static const struct http_json_meaning common[] = {
		{422, CLASS_ARGUMENTS},   {400, CLASS_ENVIRONMENT}, {409, CLASS_ENVIRONMENT},
		{410, CLASS_ENVIRONMENT}, {500, CLASS_ENVIRONMENT}, {0, CLASS_NONE}};
	const struct http_json_meaning *both[] = {meanings, common};

	for (size_t i = 0; i < ARRAY_LEN(both); i++) {
		for (const struct http_json_meaning *m = both[i]; m && m->status; m++)
			if (m->status == status)
				return m->class;
	}
	return http_status_class(status);
}

/* `error` or `detail` of the body, or its first line if it is a web page. */
static void put_reason(const struct http_json_answer *a, struct buf *text)
{
	static const struct str keys[] = {STR_INIT("error"), STR_INIT("detail")};
	struct str values[ARRAY_LEN(keys)];

	json_pick(a->data, keys, ARRAY_LEN(keys), values);
	for (size_t i = 0; i < ARRAY_LEN(keys) && !text->n; i++) {
		if (json_type(values[i]) == JSON_STRING)
			json_decode(values[i], text);
		http_json_first_error(values[i], text);
	}
	if (json_type(a->data) == JSON_STRING)
		json_decode(a->data, text);
	if (html_is_page(a->text))
		html_summary(a->text, text);
}

static void read_status(const struct http_json_answer *a, const struct http_json_meaning *meanings,
                        struct reply_reading *r, struct env_reply *out)
{
	enum error_class class = status_class(a->status, meanings);

	class = a->page ? web_page_class(class) : class;
	bool refused = class == CLASS_ARGUMENTS || class == CLASS_ENVIRONMENT ||
	               class == CLASS_UNKNOWN_TOOL;
	enum outcome fallback = refused ? OUTCOME_TOOL_ERROR : OUTCOME_PROTOCOL_ERROR;
	buf_clear(&r->text);
	put_reason(a, &r->text);
	if (!r->text.n && !a->text.n)
		buf_printf(&r->text, "HTTP %d without a body", a->status);
	reading_fail(r, http_error_outcome(a->status, class, fallback), LAYER_HTTP, class,
	             r->text.n ? buf_view(&r->text) : a->text, out);
	out->http_status = a->status;
	out->error.code = reading_code(r, a->status);
	out->observation = a->data;
	out->raw = a->data.p || !a->text.n ? STR_NONE : a->text;
}

void http_json_read_failure(const struct http_json_answer *a,
                            const struct http_json_meaning *meanings, struct reply_reading *r,
                            struct env_reply *out)
{
	if (!a->status) {
		reading_fail(r, a->late ? OUTCOME_TIMEOUT : OUTCOME_TRANSPORT_ERROR,
		             LAYER_TRANSPORT, a->late ? CLASS_TIMEOUT : CLASS_TRANSPORT, a->text,
		             out);
	} else if (a->status != 200) {
		read_status(a, meanings, r, out);
	} else {
		buf_set(&r->text, STR("the reply is not JSON"));
		if (a->fault.why)
			buf_printf(&r->text, ", byte %zu: %s", a->fault.at, a->fault.why);
		reading_fail(r, OUTCOME_PROTOCOL_ERROR, LAYER_BODY, CLASS_PROTOCOL,
		             buf_view(&r->text), out);
		out->raw = a->data.p ? STR_NONE : a->text;
		out->observation = a->data;
		out->http_status = a->status;
	}
}
