/* Sends requests to a model and counts them: see preflight.h. */
#include "net/http.h"
#include "policy/llm/chat.h"
#include "policy/llm/request.h"
#include "probe/model/preflight.h"

#define LIST_BYTES      ((size_t)8 << 20)
#define LIST_TIMEOUT_MS 10000 /* no time for generation needed */

static struct str copy_text(struct preflight *p, const struct buf *text)
{
	return arena_str(&p->arena, buf_view(text));
}

static void copy_reply(struct preflight *p, const struct model_question *q,
                       struct model_answer *out)
{
	struct calls_conf conf = {.tools = p->tools,
	                          .mode = q->conf.tool_mode,
	                          .format = q->conf.tool_format,
	                          .repair = q->conf.repair};
	int64_t n;

	out->answered = true;
	if (json_i64(JSON_GET(out->reply.usage, "prompt_tokens"), &n) && n >= 0)
		out->prompt_tokens = n;
	out->model = json_text(&p->arena, out->reply.model);
	calls_read(&conf, &out->reply, &p->arena, &out->calls);
}

static void copy_failure(struct preflight *p, const struct chat_failure *f,
                         struct model_answer *out)
{
	out->class = f->class;
	out->status = f->status;
	out->message = copy_text(p, &f->message);
	out->param = copy_text(p, &f->param);
}

/* Retries are reported as events. */
static size_t count_sent(struct event_queue *events)
{
	struct event e;
	size_t n = 1;

	while (events_take(events, &e))
		n += e.kind == EVENT_RETRY;
	return n;
}

static int converse(struct preflight *p, const struct model_question *q, struct str body,
                    struct model_answer *out, struct error *err)
{
	struct event_queue events = {.count = 0};
	struct chat_failure failure;
	struct chat chat;
	bool answered = false;

	chat_failure_init(&failure);
	chat_init(&chat, &q->conf, p->io, &events, 0);
	int failed = chat_ask(&chat, body, &out->reply, &failure, &answered, err);
	p->requests += count_sent(&events);
	if (!failed && answered)
		copy_reply(p, q, out);
	else if (!failed)
		copy_failure(p, &failure, out);
	chat_release(&chat);
	chat_failure_release(&failure);
	events_release(&events);
	return failed;
}

int preflight_ask(struct preflight *p, const struct model_question *q, struct model_answer *out,
                  struct error *err)
{
	AUTO_BUF body = BUF(BUF_MAX_MESSAGE);
	struct chat_request request;

	if (p->requests >= PREFLIGHT_REQUESTS)
		return 0;
	out->asked = true;
	out->prompt_tokens = -1;
	chat_request_init(&request, &q->conf, q->tools, 0);
	if (q->limit)
		chat_request_limit(&request, q->limit);
	chat_request_write(&request, q->messages, &body);
	int failed = converse(p, q, buf_view(&body), out, err);
	chat_request_release(&request);
	return failed;
}

/* OpenAI's format, or that of Ollama and others. */
static struct str name_of(struct str model)
{
	static const char *const keys[] = {"id", "name", "model"};
	struct str name = STR_NONE;

	for (size_t i = 0; i < ARRAY_LEN(keys) && json_type(name) != JSON_STRING; i++)
		name = json_get(model, str_from(keys[i]));
	return name;
}

static void read_list(struct preflight *p, struct str body)
{
	struct str list = JSON_GET(body, "data"), each, name;

	if (json_type(list) != JSON_ARRAY)
		list = JSON_GET(body, "models");
	if (json_type(list) != JSON_ARRAY) {
		p->list_fault = STR("the reply contains no list");
		return;
	}
	p->names = arena_new(&p->arena, (json_count(list) + 1) * sizeof(*p->names));
	for (size_t cursor = 0; json_next(list, &cursor, &each);) {
		name = json_text(&p->arena, json_type(each) == JSON_OBJECT ? name_of(each) : each);
		if (name.p)
			p->names[p->name_count++] = name.p;
	}
}

static int receive_list(struct preflight *p, struct http_exchange *x, struct error *err)
{
	AUTO_BUF body = BUF(LIST_BYTES);
	int failed = http_read_all(x, &body, err);

	p->list_status = http_status(x);
	if (!failed && p->list_status != 200) {
		buf_clear(&body);
		buf_printf(&body, "HTTP %d", p->list_status);
		p->list_fault = copy_text(p, &body);
	} else if (!failed && (http_media_is(x, "text/html") || !json_is_valid(buf_view(&body)))) {
		p->list_fault = STR("the reply is not JSON");
	} else if (!failed) {
		read_list(p, buf_view(&body));
	}
	return failed;
}

static struct str list_url(struct preflight *p)
{
	struct buf url = BUF(BUF_MAX_SMALL);

	buf_text(&url, p->conf->url);
	buf_cut(&url, url.n - strlen(p->conf->api->path));
	buf_text(&url, "/models");
	return buf_keep(&url, &p->arena);
}

static int list(struct preflight *p, const struct http_request *q, struct error *err)
{
	struct http_exchange *x = NULL;

	if (http_begin(p->io, q, &x, err))
		return -1;
	int failed = receive_list(p, x, err);
	p->requests += 1 + http_repeats(x);
	p->unreachable = failed && err->kind == FAIL_TRANSPORT && !http_was_sent(x);
	http_end(x);
	return failed;
}

int preflight_list(struct preflight *p, struct error *err)
{
	AUTO_BUF authorization = BUF(BUF_MAX_SMALL);
	const char *headers[3] = {"Accept: application/json"};
	uint64_t timeout = p->conf->timeout_ms;
	struct http_request q = {.method = "GET",
	                         .url = list_url(p).p,
	                         .headers = headers,
	                         .header_count = 1,
	                         .timeout_ms =
	                                 timeout < LIST_TIMEOUT_MS ? timeout : LIST_TIMEOUT_MS,
	                         .max_bytes = LIST_BYTES,
	                         .may_repeat = true,
	                         .trust = p->conf->insecure ? TRUST_ANY : TRUST_VALID};

	chat_add_key(p->conf, &authorization, headers, &q.header_count);
	int failed = list(p, &q, err);
	if (failed && error_is_peers(err)) {
		p->list_fault = arena_str(&p->arena, str_from(err->text));
		return 0;
	}
	return failed;
}
