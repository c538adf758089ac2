/* The scripted model's server, on libmicrohttpd with one thread, the only one that uses the
   script: see llm.h. */
#include "serve/llm/llm.h"

#include "base/log.h"
#include "json/write.h"
#include "serve/host/host.h"
#include "serve/llm/reply_script.h"

#include <stdlib.h>
#include <strings.h>

#define REQUEST_MAX      ((size_t)64 << 20)
#define BLOCK            ((size_t)64 << 10) /* default bytes per write */
#define CONNECTION_BYTES ((size_t)32 << 10) /* including the header block */
#define MODELS_PATH      "/v1/models"
#define CHAT_PATH        "/v1/chat/completions"

struct llm_server {
	struct llm_script script;
	struct allowed_origins origins;
	size_t next;     /* reply in order */
	uint64_t number; /* of the request */
	struct host host;
};

struct completion {
	unsigned status;
	const char *type; /* content type; NULL: no body */
	bool stream;
	const struct llm_reply *reply; /* NULL: an error of the server itself */
	struct buf body;
};

/* ---- sending ---- */

struct sending {
	struct buf body;
	size_t every; /* bytes per write */
	size_t cut;   /* close the connection after this many; SIZE_MAX: never */
};

static ssize_t read_body(void *cls, uint64_t at, char *out, size_t max)
{
	struct sending *s = cls;
	size_t n = s->body.n - (size_t)at;

	if (at >= s->cut)
		return MHD_CONTENT_READER_END_WITH_ERROR;
	if (n == 0)
		return MHD_CONTENT_READER_END_OF_STREAM;
	n = n < max ? n : max;
	n = n < s->every ? n : s->every;
	n = n < s->cut - (size_t)at ? n : s->cut - (size_t)at;
	memcpy(out, s->body.p + at, n);
	return (ssize_t)n;
}

static void sent(void *cls)
{
	struct sending *s = cls;

	buf_release(&s->body);
	free(s);
}

static void add_headers(struct MHD_Response *response, const struct completion *a)
{
	AUTO_ARENA arena = {0};
	struct json_member m;
	bool typed = !a->type;

	for (size_t cursor = 0; a->reply && json_next_member(a->reply->headers, &cursor, &m);) {
		const char *name = json_key_text(&arena, m.key).p;

		if (json_type(m.value) == JSON_STRING)
			host_add_header(response, name, json_text(&arena, m.value).p);
		typed = typed || strcasecmp(name, "content-type") == 0;
	}
	if (!typed)
		host_add_header(response, "Content-Type", a->type);
}

/* Takes ownership of a->body. */
static enum MHD_Result send_answer(struct MHD_Connection *connection, struct completion *a)
{
	const struct llm_reply *r = a->reply;
	struct sending *s = mem_new(sizeof(*s));
	bool cut = r && r->close == CLOSE_WITHIN;
	uint64_t size = a->stream ? MHD_SIZE_UNKNOWN : a->body.n;

	*s = (struct sending){.body = a->body, .every = BLOCK, .cut = SIZE_MAX};
	a->body = BUF(LLM_BODY_MAX);
	if (cut)
		s->cut = s->body.n / 2;
	if (r && r->every.given && r->every.value > 0)
		s->every = (size_t)r->every.value;
	struct MHD_Response *response =
		MHD_create_response_from_callback(size, BLOCK, read_body, s, sent);

	if (!response) {
		sent(s);
		return MHD_NO;
	}
	add_headers(response, a);
	return host_send(connection, a->status, response);
}

/* ---- answers ---- */

/* code: raw JSON. */
static PRINTF_LIKE(4, 5) void answer_error(struct completion *a, unsigned status, const char *code,
                                           const char *fmt, ...)
{
	AUTO_BUF message = BUF(BUF_MAX_SMALL), quoted = BUF(BUF_MAX_SMALL);
	va_list args;

	va_start(args, fmt);
	buf_vprintf(&message, fmt, args);
	va_end(args);
	json_quote(&quoted, buf_view(&message));
	a->status = status;
	a->type = "application/json";
	llm_body_error(status, buf_view(&quoted), str_from(code), &a->body);
	log_info("serve: %u: %s", status, buf_cstr(&message));
}

/* Blanks, which JSON ignores after a value; before a stream they precede its first event. */
static void pad(struct buf *out, uint64_t size)
{
	char *room = buf_room(out, size);

	if (room) {
		memset(room, ' ', size);
		out->n += size;
	}
}

static void answer_scripted(const struct llm_reply *r, const struct scripted_request *asked,
                            uint64_t number, struct completion *a)
{
	a->reply = r;
	a->status = r->status.given ? (unsigned)r->status.value : 200;
	a->type = "application/json";
	if (r->raw.p) {
		buf_str(&a->body, r->raw);
	} else if (a->status >= 300) {
		llm_body_error(a->status, r->says.p ? r->says : STR("\"error from the script\""),
		               r->code, &a->body);
	} else if (asked->stream) {
		a->stream = true;
		a->type = "text/event-stream; charset=utf-8";
		pad(&a->body, r->size);
		llm_body_stream(r, asked, number, &a->body);
	} else {
		llm_body_whole(r, asked, number, &a->body);
	}
	if (!a->stream)
		pad(&a->body, r->size);
}

/* A model listed as MODEL@REVISION can also be requested without the revision. */
static bool is_known(const struct llm_server *s, struct str model)
{
	struct str each;

	for (size_t cursor = 0; json_next(s->script.models, &cursor, &each);) {
		struct str name = json_inner(each);

		if (json_is(each, model) ||
		    (name.n > model.n && str_starts(name, model) && name.p[model.n] == '@')) {
			return true;
		}
	}
	return !s->script.models.p;
}

static void answer_unknown_model(struct completion *a, struct str model)
{
	answer_error(a, 404, "\"model_not_found\"", "The model '%.*s' does not exist",
	             STR_ARG(model));
}

static void answer_chat(struct llm_server *s, struct str body, struct completion *a)
{
	AUTO_BUF why = BUF(BUF_MAX_SMALL);
	AUTO_ARENA arena = {0};
	struct scripted_request asked;
	uint64_t number = s->number++;

	if (!llm_check(body, &arena, &asked, &why)) {
		answer_error(a, 400, "null", "%s", buf_cstr(&why));
	} else if (!is_known(s, asked.model)) {
		answer_unknown_model(a, asked.model);
	} else {
		const struct llm_reply *r = llm_script_choose(&s->script, &asked, &s->next);

		if (r)
			answer_scripted(r, &asked, number, a);
		else
			answer_error(a, 500, "\"script_over\"", "no more replies in the script");
	}
}

static void answer_model(struct llm_server *s, struct str model, struct completion *a)
{
	if (!is_known(s, model)) {
		answer_unknown_model(a, model);
		return;
	}
	a->status = 200;
	a->type = "application/json";
	llm_body_model(model, &a->body);
}

static bool is_allowed(const struct llm_server *s, struct MHD_Connection *connection)
{
	struct str authorization = host_header(connection, "authorization");

	return !s->script.key.p ||
	       (str_starts(authorization, STR("Bearer ")) &&
	        str_eq(str_skip(authorization, strlen("Bearer ")), s->script.key));
}

static void answer(struct llm_server *s, struct MHD_Connection *connection,
                   const struct host_request *q, struct origin_refusal refused,
                   struct completion *a)
{
	const char *url = q->url, *method = q->method;
	bool chat = strcmp(url, CHAT_PATH) == 0;
	bool models = strcmp(url, MODELS_PATH) == 0;
	bool model = strncmp(url, MODELS_PATH "/", strlen(MODELS_PATH "/")) == 0;

	if (refused.status) {
		answer_error(a, refused.status, "null", "%s", refused.why);
	} else if (!chat && !models && !model) {
		answer_error(a, 404, "null",
		             "no such endpoint; available: " CHAT_PATH ", " MODELS_PATH);
	} else if (!is_allowed(s, connection)) {
		answer_error(a, 401, "\"invalid_api_key\"", "Incorrect or missing API key");
	} else if (strcmp(method, chat ? "POST" : "GET") != 0) {
		answer_error(a, 405, "null", "Method Not Allowed");
	} else if (chat) {
		answer_chat(s, buf_view(&q->body), a);
	} else if (model) {
		answer_model(s, str_from(url + strlen(MODELS_PATH "/")), a);
	} else {
		a->status = 200;
		a->type = "application/json";
		llm_body_models(s->script.models.p ? s->script.models : STR("[\"scripted\"]"),
		                &a->body);
	}
	log_debug("serve: %s %s: %u", method, url, a->status);
}

static enum MHD_Result on_request(void *ctx, struct MHD_Connection *connection,
                                  const struct host_request *q)
{
	struct llm_server *s = ctx;
	struct completion a = {.body = BUF(LLM_BODY_MAX)};
	struct origin_refusal refused = origin_refuse(
		&s->origins, host_header(connection, "origin"), host_header(connection, "host"));
	enum MHD_Result result = MHD_NO;

	answer(s, connection, q, refused, &a);
	const struct llm_reply *r = a.reply;
	bool open = !(r && r->delay_ms) || host_wait(&s->host, STR_NONE, r->delay_ms);
	if (open && !(r && r->close == CLOSE_BEFORE))
		result = send_answer(connection, &a);
	buf_release(&a.body);
	return result;
}

/* ---- start and stop ---- */

static void server_free(struct llm_server *s)
{
	host_free(&s->host);
	llm_script_release(&s->script);
	free(s);
}

int llm_server_start(const struct llm_server_conf *c, struct llm_server **out, struct error *err)
{
	struct llm_server *s = mem_new(sizeof(*s));
	const struct host_conf conf = {.bind = c->bind,
	                               .port = c->port,
	                               .clock = c->clock,
	                               .connection_bytes = CONNECTION_BYTES,
	                               .body_max = REQUEST_MAX,
	                               .answer = on_request,
	                               .ctx = s};

	s->origins = c->origins;
	if (c->made)
		s->script = *c->made;
	if (allowed_origins_check(&c->origins, err) ||
	    (!c->made && llm_script_read(c->script, &s->script, err)) ||
	    host_start(&s->host, &conf, err)) {
		server_free(s);
		return -1;
	}
	*out = s;
	return 0;
}

uint16_t llm_server_port(const struct llm_server *s)
{
	return s->host.port;
}

void llm_server_stop(struct llm_server *s)
{
	if (s) {
		host_close(&s->host);
		server_free(s);
	}
}
