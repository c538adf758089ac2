/* Replies of the scripted model: see body.h. */
#include "serve/llm/body.h"

#include "json/write.h"

#include <stdio.h>

#define PIECE       8 /* default bytes of text per chunk */
#define PIECE_LARGE ((size_t)64 << 10)

/* ---- the message ---- */

static void put_call(struct json_writer *w, struct str call, uint64_t number, size_t i)
{
	struct str arguments = JSON_GET(call, "arguments"), id = JSON_GET(call, "id");
	char made[48];

	snprintf(made, sizeof(made), "call_%llu_%zu", (unsigned long long)number, i);
	jw_object(w);
	jw_key(w, "id");
	if (id.p) {
		jw_raw(w, id);
	} else {
		jw_text(w, made);
	}
	jw_key(w, "type");
	jw_text(w, "function");
	jw_key(w, "function");
	jw_object(w);
	jw_key(w, "name");
	jw_raw(w, JSON_GET(call, "name"));
	jw_key(w, "arguments");
	if (json_type(arguments) == JSON_STRING) {
		jw_raw(w, arguments);
	} else {
		jw_str(w, arguments.p ? arguments : STR("{}"));
	}
	jw_end(w);
	jw_end(w);
}

void llm_body_pad(struct buf *out, char with, uint64_t size)
{
	char *room = buf_room(out, size);

	if (room) {
		memset(room, with, size);
		out->n += size;
	}
}

static void write_message(const struct llm_reply *r, uint64_t number, struct buf *out)
{
	struct json_writer w;
	struct str call;
	size_t i = 0;

	if (r->message.p) {
		buf_str(out, r->message);
		return;
	}
	if (r->size) {
		buf_text(out, "{\"role\":\"assistant\",\"content\":\"");
		llm_body_pad(out, 'x', r->size);
		buf_text(out, "\"}");
		return;
	}
	jw_init(&w, out);
	jw_object(&w);
	jw_key(&w, "role");
	jw_text(&w, "assistant");
	jw_key(&w, "content");
	jw_raw(&w, r->text);
	if (r->calls.p) {
		jw_key(&w, "tool_calls");
		jw_array(&w);
		for (size_t cursor = 0; json_next(r->calls, &cursor, &call);) {
			put_call(&w, call, number, i++);
		}
		jw_end(&w);
	}
	jw_end(&w);
}

static struct str finish_of(const struct llm_reply *r, struct str message)
{
	bool calls = json_count(JSON_GET(message, "tool_calls")) > 0;

	return r->finish_reason.p ? r->finish_reason
	       : calls            ? STR("\"tool_calls\"")
	                          : STR("\"stop\"");
}

static void put_given(struct json_writer *w, const char *key, struct str raw)
{
	if (raw.p) {
		jw_key(w, key);
		jw_raw(w, raw);
	}
}

static void put_head(struct json_writer *w, const char *object, const struct scripted_request *a,
                     uint64_t number)
{
	char id[32];

	snprintf(id, sizeof(id), "chatcmpl-%llu", (unsigned long long)number);
	jw_object(w);
	jw_key(w, "id");
	jw_text(w, id);
	jw_key(w, "object");
	jw_text(w, object);
	jw_key(w, "created");
	jw_i64(w, 0);
	jw_key(w, "model");
	jw_str(w, a->model);
}

static void put_choice(struct json_writer *w, const struct llm_reply *r, struct str message)
{
	jw_object(w);
	jw_key(w, "index");
	jw_i64(w, 0);
	jw_key(w, "message");
	jw_raw(w, message);
	put_given(w, "logprobs", r->logprobs);
	jw_key(w, "finish_reason");
	jw_raw(w, finish_of(r, message));
	put_given(w, "stop_reason", r->stop_reason);
	put_given(w, "token_ids", r->token_ids);
	jw_end(w);
}

void llm_body_whole(const struct llm_reply *r, const struct scripted_request *a, uint64_t number,
                    struct buf *out)
{
	struct buf message = BUF(LLM_BODY_MAX);
	struct json_writer w;

	write_message(r, number, &message);
	jw_init(&w, out);
	put_head(&w, "chat.completion", a, number);
	jw_key(&w, "choices");
	jw_array(&w);
	put_choice(&w, r, buf_view(&message));
	jw_end(&w);
	put_given(&w, "usage", r->usage);
	put_given(&w, "prompt_token_ids", r->prompt_token_ids);
	jw_end(&w);
	buf_release(&message);
}

/* ---- streams ---- */

struct streaming {
	const struct llm_reply *r;
	const struct scripted_request *a;
	uint64_t number;
	struct buf *out;
	size_t piece;
	bool began;
};

static void line_end(struct streaming *s)
{
	buf_text(s->out, s->r->stream.crlf ? "\r\n" : "\n");
}

static void begin_event(struct streaming *s)
{
	if (s->r->stream.comments) {
		buf_text(s->out, ": ping");
		line_end(s);
		line_end(s);
		buf_text(s->out, "event: message");
		line_end(s);
	}
	buf_text(s->out, s->r->stream.comments ? "data:" : "data: ");
}

static void end_event(struct streaming *s)
{
	line_end(s);
	line_end(s);
}

/* A chunk up to its delta; the first one has the prompt's token ids. */
static void begin_chunk(struct streaming *s, struct json_writer *w)
{
	begin_event(s);
	jw_init(w, s->out);
	put_head(w, "chat.completion.chunk", s->a, s->number);
	if (!s->began) {
		put_given(w, "prompt_token_ids", s->r->prompt_token_ids);
		s->began = true;
	}
	jw_key(w, "choices");
	jw_array(w);
	jw_object(w);
	jw_key(w, "index");
	jw_i64(w, 0);
	jw_key(w, "delta");
	jw_object(w);
}

static void end_chunk(struct streaming *s, struct json_writer *w, struct str finish)
{
	jw_end(w);
	jw_key(w, "finish_reason");
	jw_raw(w, finish);
	if (finish.p) {
		put_given(w, "stop_reason", s->r->stop_reason);
	}
	jw_end(w);
	jw_end(w);
	jw_end(w);
	end_event(s);
}

/* The first half of a pair, \uD800 to \uDBFF, or the second, up to \uDFFF. */
static bool is_surrogate(struct str escape, bool leads)
{
	static const char high[] = "89abAB", low[] = "cdefCDEF";

	return escape.p[0] == '\\' && escape.p[1] == 'u' && (escape.p[2] | 32) == 'd' &&
	       strchr(leads ? high : low, escape.p[3]);
}

/* The length of the next unit of an escaped text: an escape, a character or a surrogate pair. */
static size_t unit(struct str text)
{
	unsigned char c = (unsigned char)text.p[0];
	size_t n = c < 0xC0 ? 1 : c < 0xE0 ? 2 : c < 0xF0 ? 3 : 4;

	if (c == '\\' && text.n > 1) {
		n = text.p[1] == 'u' ? 6 : 2;
	}
	if (n == 6 && text.n >= 12 && is_surrogate(text, true) &&
	    is_surrogate(str_skip(text, 6), false)) {
		n = 12;
	}
	return n < text.n ? n : text.n;
}

static struct str next_piece(struct str *rest, size_t least)
{
	struct str piece = {rest->p, 0};

	if (least >= rest->n) {
		piece.n = rest->n;
	} else if (least == PIECE_LARGE) {
		piece.n = least; /* only in padding, which is ASCII */
	}
	while (piece.n < rest->n && piece.n < least) {
		piece.n += unit(str_skip(*rest, piece.n));
	}
	*rest = str_skip(*rest, piece.n);
	return piece;
}

static void put_piece(struct json_writer *w, const char *key, struct str escaped)
{
	jw_key(w, key);
	buf_char(w->out, '"');
	buf_str(w->out, escaped);
	buf_char(w->out, '"');
	w->comma = true;
}

static void stream_text(struct streaming *s, const char *key, struct str string)
{
	struct str rest = json_inner(string);
	struct json_writer w;

	if (json_type(string) != JSON_STRING) {
		return;
	}
	do {
		begin_chunk(s, &w);
		put_piece(&w, key, next_piece(&rest, s->piece));
		end_chunk(s, &w, STR_NONE);
	} while (rest.n);
}

static void begin_call(struct streaming *s, struct json_writer *w, size_t i)
{
	begin_chunk(s, w);
	jw_key(w, "tool_calls");
	jw_array(w);
	jw_object(w);
	if (s->r->stream.index != INDEX_MISSING) {
		jw_key(w, "index");
		jw_u64(w, s->r->stream.index == INDEX_SAME ? 0 : i);
	}
}

static void end_call(struct streaming *s, struct json_writer *w)
{
	jw_end(w);
	jw_end(w);
	jw_end(w);
	end_chunk(s, w, STR_NONE);
}

static void put_identity(struct json_writer *w, struct str call)
{
	jw_key(w, "id");
	jw_raw(w, JSON_GET(call, "id"));
	jw_key(w, "type");
	jw_text(w, "function");
}

static void stream_call(struct streaming *s, struct str call, size_t i)
{
	struct str function = JSON_GET(call, "function");
	struct str arguments = JSON_GET(function, "arguments");
	struct str rest = json_inner(arguments);
	bool text = json_type(arguments) == JSON_STRING;
	struct json_writer w;

	begin_call(s, &w, i);
	put_identity(&w, call);
	jw_key(&w, "function");
	jw_object(&w);
	put_given(&w, "name", JSON_GET(function, "name"));
	jw_key(&w, "arguments");
	jw_raw(&w, text ? STR("\"\"") : arguments);
	end_call(s, &w);
	while (text && rest.n) {
		begin_call(s, &w, i);
		if (s->r->stream.repeat) {
			put_identity(&w, call);
		}
		jw_key(&w, "function");
		jw_object(&w);
		if (s->r->stream.repeat) {
			put_given(&w, "name", JSON_GET(function, "name"));
		}
		put_piece(&w, "arguments", next_piece(&rest, s->piece));
		end_call(s, &w);
	}
}

/* All log-probs and token ids in one chunk. */
static void stream_tokens(struct streaming *s)
{
	struct json_writer w;

	if (!s->r->logprobs.p && !s->r->token_ids.p) {
		return;
	}
	begin_chunk(s, &w);
	jw_end(&w);
	put_given(&w, "logprobs", s->r->logprobs);
	put_given(&w, "token_ids", s->r->token_ids);
	jw_end(&w);
	jw_end(&w);
	jw_end(&w);
	end_event(s);
}

static void stream_message(struct streaming *s, struct str message)
{
	static const char *const texts[] = {"reasoning", "reasoning_content", "content", "refusal"};
	struct json_writer w;
	struct str call;
	size_t n = 0;

	begin_chunk(s, &w);
	jw_key(&w, "role");
	jw_text(&w, "assistant");
	end_chunk(s, &w, STR_NONE);
	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		stream_text(s, texts[i], json_get(message, str_from(texts[i])));
	}
	for (size_t cursor = 0; json_next(JSON_GET(message, "tool_calls"), &cursor, &call);) {
		stream_call(s, call, n++);
	}
	stream_tokens(s);
}

static void stream_usage(struct streaming *s)
{
	struct json_writer w;

	begin_event(s);
	jw_init(&w, s->out);
	put_head(&w, "chat.completion.chunk", s->a, s->number);
	jw_key(&w, "choices");
	jw_array(&w);
	jw_end(&w);
	put_given(&w, "usage", s->r->usage);
	jw_end(&w);
	end_event(s);
}

static void stream_failure(struct streaming *s)
{
	struct json_writer w;

	begin_event(s);
	jw_init(&w, s->out);
	jw_object(&w);
	jw_key(&w, "error");
	jw_object(&w);
	jw_key(&w, "message");
	jw_raw(&w, s->r->stream.error);
	jw_end(&w);
	jw_end(&w);
	end_event(s);
}

void llm_body_stream(const struct llm_reply *r, const struct scripted_request *a, uint64_t number,
                     struct buf *out)
{
	struct streaming s = {.r = r, .a = a, .number = number, .out = out};
	struct buf message = BUF(LLM_BODY_MAX);
	struct json_writer w;

	s.piece = r->stream.piece.given && r->stream.piece.value ? (size_t)r->stream.piece.value
	          : r->size                                      ? PIECE_LARGE
	                                                         : PIECE;
	write_message(r, number, &message);
	stream_message(&s, buf_view(&message));
	if (r->stream.error.p) {
		stream_failure(&s);
	} else if (!r->stream.no_finish) {
		begin_chunk(&s, &w);
		end_chunk(&s, &w, finish_of(r, buf_view(&message)));
	}
	if (r->usage.p && a->include_usage && !r->stream.no_usage) {
		stream_usage(&s);
	}
	if (!r->stream.no_done) {
		buf_text(out, "data: [DONE]");
		end_event(&s);
	}
	buf_release(&message);
}

/* ---- errors ---- */

#define HTML                                                                                       \
	"<!DOCTYPE html>\n<html><head><title>%u</title></head><body><h1>%u</h1>"                   \
	"</body></html>\n"

/* Error type and code by status: OpenAI, vLLM, Anthropic. */
static const struct {
	unsigned status;
	const char *openai, *vllm, *anthropic;
} error_types[] = {
	{400, "invalid_request_error", "BadRequestError", "invalid_request_error"},
	{401, "invalid_request_error", "Unauthorized", "authentication_error"},
	{403, "invalid_request_error", "PermissionDeniedError", "permission_error"},
	{404, "invalid_request_error", "NotFoundError", "not_found_error"},
	{413, "invalid_request_error", "BadRequestError", "request_too_large"},
	{429, "requests", "RateLimitError", "rate_limit_error"},
	{500, "server_error", "InternalServerError", "api_error"},
	{529, "server_error", "InternalServerError", "overloaded_error"},
};

static const char *type_of(const struct llm_error_body *c)
{
	size_t at = c->status < 500 ? 0 : ARRAY_LEN(error_types) - 2;

	if (c->form == ERROR_OPENAI && json_is(c->code, STR("insufficient_quota"))) {
		return "insufficient_quota";
	}
	for (size_t i = 0; i < ARRAY_LEN(error_types); i++) {
		at = error_types[i].status == c->status ? i : at;
	}
	return c->form == ERROR_VLLM        ? error_types[at].vllm
	       : c->form == ERROR_ANTHROPIC ? error_types[at].anthropic
	                                    : error_types[at].openai;
}

/* {"message":..,"type":..,"param":null,"code":..} */
static void put_error(struct json_writer *w, const struct llm_error_body *c)
{
	jw_key(w, "message");
	jw_raw(w, c->message);
	jw_key(w, "type");
	jw_text(w, type_of(c));
	jw_key(w, "param");
	jw_null(w);
	jw_key(w, "code");
	jw_raw(w, c->code);
}

static void write_error(const struct llm_error_body *c, struct json_writer *w)
{
	switch (c->form) {
	case ERROR_VLLM:
		jw_key(w, "object");
		jw_text(w, "error");
		put_error(w, c);
		break;
	case ERROR_FASTAPI:
		jw_key(w, "detail");
		jw_raw(w, c->message);
		break;
	case ERROR_FASTAPI_LIST:
		jw_key(w, "detail");
		jw_array(w);
		jw_object(w);
		jw_key(w, "loc");
		jw_raw(w, STR("[\"body\",\"messages\"]"));
		jw_key(w, "msg");
		jw_raw(w, c->message);
		jw_key(w, "type");
		jw_text(w, "value_error");
		jw_end(w);
		jw_end(w);
		break;
	case ERROR_GATEWAY:
		jw_key(w, "error");
		jw_raw(w, c->message);
		break;
	default:
		if (c->form == ERROR_ANTHROPIC) {
			jw_key(w, "type");
			jw_text(w, "error");
		}
		jw_key(w, "error");
		jw_object(w);
		put_error(w, c);
		jw_end(w);
		break;
	}
}

const char *llm_body_error(const struct llm_error_body *c, struct buf *out)
{
	struct json_writer w;

	if (c->form == ERROR_EMPTY) {
		return NULL;
	}
	if (c->form == ERROR_HTML) {
		buf_printf(out, HTML, c->status, c->status);
		return "text/html; charset=utf-8";
	}
	jw_init(&w, out);
	jw_object(&w);
	write_error(c, &w);
	jw_end(&w);
	return "application/json";
}

static void put_model(struct json_writer *w, struct str name)
{
	jw_object(w);
	jw_key(w, "id");
	jw_raw(w, name);
	jw_key(w, "object");
	jw_text(w, "model");
	jw_key(w, "created");
	jw_i64(w, 0);
	jw_key(w, "owned_by");
	jw_text(w, "rolldbg");
	jw_end(w);
}

void llm_body_model(struct str name, struct buf *out)
{
	struct json_writer w;

	jw_init(&w, out);
	put_model(&w, name);
}

void llm_body_models(struct str models, struct buf *out)
{
	struct json_writer w;
	struct str name;

	jw_init(&w, out);
	jw_object(&w);
	jw_key(&w, "object");
	jw_text(&w, "list");
	jw_key(&w, "data");
	jw_array(&w);
	for (size_t cursor = 0; json_next(models, &cursor, &name);) {
		put_model(&w, name);
	}
	jw_end(&w);
	jw_end(&w);
}
