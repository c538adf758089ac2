/* Replies of the scripted model: see body.h. */
#include "serve/llm/reply_script.h"

#include "base/text.h"
#include "json/write.h"

#include <stdio.h>

#define PIECE 8 /* default bytes of text per chunk */

/* ---- the message ---- */

static void put_call(struct json_writer *w, struct str call, uint64_t number, size_t i)
{
	struct str arguments = JSON_GET(call, "arguments"), id = JSON_GET(call, "id");
	char made[48];

	snprintf(made, sizeof(made), "call_%llu_%zu", (unsigned long long)number, i);
	jw_pack(w, id.p ? "{id:%r" : "{id:%s", id.p ? id : str_from(made));
	jw_pack(w,
	        json_type(arguments) == JSON_STRING
	                ? "type:'function',function:{name:%r,arguments:%r}}"
	                : "type:'function',function:{name:%r,arguments:%s}}",
	        JSON_GET(call, "name"), arguments.p ? arguments : STR("{}"));
}

static void write_message(const struct llm_reply *r, uint64_t number, struct buf *out)
{
	struct str call;
	size_t i = 0;

	if (r->message.p) {
		buf_str(out, r->message);
		return;
	}
	struct json_writer w = jw_form(out, "{role:'assistant',content:%r", r->text);
	if (r->calls.p) {
		jw_pack(&w, "tool_calls:[");
		for (size_t cursor = 0; json_next(r->calls, &cursor, &call);)
			put_call(&w, call, number, i++);
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

static void put_head(struct json_writer *w, const char *object, const struct scripted_request *a,
                     uint64_t number)
{
	char id[32];

	snprintf(id, sizeof(id), "chatcmpl-%llu", (unsigned long long)number);
	jw_pack(w, "{id:%t,object:%t,created:0,model:%s", id, object, a->model);
}

void llm_body_whole(const struct llm_reply *r, const struct scripted_request *a, uint64_t number,
                    struct buf *out)
{
	AUTO_BUF message = BUF(LLM_BODY_MAX);
	struct json_writer w;

	write_message(r, number, &message);
	struct str text = buf_view(&message);
	jw_init(&w, out);
	put_head(&w, "chat.completion", a, number);
	jw_pack(&w, "choices:[{index:0,message:%r,logprobs:%?r,finish_reason:%r,stop_reason:%?r",
	        text, r->logprobs, finish_of(r, text), r->stop_reason);
	jw_pack(&w, "token_ids:%?r}],usage:%?r,prompt_token_ids:%?r}", r->token_ids, r->usage,
	        r->prompt_token_ids);
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

static void end_event(struct streaming *s)
{
	buf_text(s->out, "\n\n");
}

/* A chunk up to its delta; the first one has the prompt's token ids. */
static void begin_chunk(struct streaming *s, struct json_writer *w)
{
	buf_text(s->out, "data: ");
	jw_init(w, s->out);
	put_head(w, "chat.completion.chunk", s->a, s->number);
	jw_pack(w, "prompt_token_ids:%?r,choices:[{index:0,delta:{",
	        s->began ? STR_NONE : s->r->prompt_token_ids);
	s->began = true;
}

static void end_chunk(struct streaming *s, struct json_writer *w, struct str finish)
{
	jw_pack(w, "},finish_reason:%r,stop_reason:%?r}]}", finish,
	        finish.p ? s->r->stop_reason : STR_NONE);
	end_event(s);
}

/* The next bytes of a text, whole characters. */
static struct str next_piece(struct str *rest, size_t bytes)
{
	struct str piece = text_utf8_cut(*rest, bytes);

	piece = piece.n ? piece : text_utf8_cut(*rest, 4);
	*rest = str_skip(*rest, piece.n);
	return piece;
}

static void stream_text(struct streaming *s, const char *key, struct str string)
{
	AUTO_ARENA arena = {0};
	struct str rest = json_text(&arena, string);
	struct json_writer w;

	if (!rest.p)
		return;
	do {
		begin_chunk(s, &w);
		jw_put_str(&w, key, next_piece(&rest, s->piece));
		end_chunk(s, &w, STR_NONE);
	} while (rest.n);
}

static void begin_call(struct streaming *s, struct json_writer *w, size_t i)
{
	begin_chunk(s, w);
	jw_pack(w, "tool_calls:[{index:%d", (int)i);
}

static void end_call(struct streaming *s, struct json_writer *w)
{
	jw_pack(w, "}}]");
	end_chunk(s, w, STR_NONE);
}

static void stream_call(struct streaming *s, struct str call, size_t i)
{
	struct str function = JSON_GET(call, "function"), id = JSON_GET(call, "id");
	struct str arguments = JSON_GET(function, "arguments"), name = JSON_GET(function, "name");
	AUTO_ARENA arena = {0};
	struct str rest = json_text(&arena, arguments);
	bool text = json_type(arguments) == JSON_STRING;
	struct json_writer w;

	begin_call(s, &w, i);
	jw_pack(&w, "id:%r,type:'function',function:{name:%?r,arguments:%r", id, name,
	        text ? STR("\"\"") : arguments);
	end_call(s, &w);
	while (text && rest.n) {
		begin_call(s, &w, i);
		jw_pack(&w, "function:{arguments:%s", next_piece(&rest, s->piece));
		end_call(s, &w);
	}
}

/* All log-probs and token ids in one chunk. */
static void stream_tokens(struct streaming *s)
{
	struct json_writer w;

	if (!s->r->logprobs.p && !s->r->token_ids.p)
		return;
	begin_chunk(s, &w);
	jw_pack(&w, "},logprobs:%?r,token_ids:%?r}]}", s->r->logprobs, s->r->token_ids);
	end_event(s);
}

static void stream_message(struct streaming *s, struct str message)
{
	static const char *const texts[] = {"reasoning", "reasoning_content", "content", "refusal"};
	struct json_writer w;
	struct str call;
	size_t n = 0;

	begin_chunk(s, &w);
	jw_pack(&w, "role:'assistant'");
	end_chunk(s, &w, STR_NONE);
	for (size_t i = 0; i < ARRAY_LEN(texts); i++)
		stream_text(s, texts[i], json_get(message, str_from(texts[i])));
	for (size_t cursor = 0; json_next(JSON_GET(message, "tool_calls"), &cursor, &call);)
		stream_call(s, call, n++);
	stream_tokens(s);
}

static void stream_usage(struct streaming *s)
{
	struct json_writer w;

	buf_text(s->out, "data: ");
	jw_init(&w, s->out);
	put_head(&w, "chat.completion.chunk", s->a, s->number);
	jw_pack(&w, "choices:[],usage:%?r}", s->r->usage);
	end_event(s);
}

void llm_body_stream(const struct llm_reply *r, const struct scripted_request *a, uint64_t number,
                     struct buf *out)
{
	struct streaming s = {.r = r, .a = a, .number = number, .out = out};
	AUTO_BUF message = BUF(LLM_BODY_MAX);
	struct json_writer w;

	s.piece = r->piece.given && r->piece.value ? (size_t)r->piece.value : PIECE;
	write_message(r, number, &message);
	stream_message(&s, buf_view(&message));
	begin_chunk(&s, &w);
	end_chunk(&s, &w, finish_of(r, buf_view(&message)));
	if (r->usage.p && a->include_usage)
		stream_usage(&s);
	buf_text(out, "data: [DONE]\n\n");
}

/* ---- errors ---- */

static const char *error_type(unsigned status, struct str code)
{
	return json_is(code, STR("insufficient_quota")) ? "insufficient_quota"
	       : status == 429                          ? "requests"
	       : status < 500                           ? "invalid_request_error"
	                                                : "server_error";
}

void llm_body_error(unsigned status, struct str message, struct str code, struct buf *out)
{
	json_pack(out, "{error:{message:%r,type:%t,param:null,code:%r}}", message,
	          error_type(status, code), code);
}

void llm_body_model(struct str name, struct buf *out)
{
	json_pack(out, "{id:%s,object:'model',created:0,owned_by:'rolldbg'}", name);
}

void llm_body_models(struct str models, struct buf *out)
{
	AUTO_ARENA arena = {0};
	struct str name;
	size_t count = 0;

	buf_text(out, "{\"object\":\"list\",\"data\":[");
	for (size_t cursor = 0; json_next(models, &cursor, &name);) {
		buf_text(out, count++ ? "," : "");
		llm_body_model(json_text(&arena, name), out);
	}
	buf_text(out, "]}");
}
