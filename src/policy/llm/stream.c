/* Merging streamed chunks: see stream.h. */
#include "policy/llm/stream.h"

#include <stdlib.h>

void chat_stream_init(struct chat_stream *s)
{
	*s = (struct chat_stream){.calls = NULL};
	s->content = s->reasoning = s->refusal = s->finish_reason = s->logprobs =
		s->token_ids = s->stop_reason = s->usage = s->prompt_token_ids =
			s->model = s->failure = BUF(CHAT_REPLY_MAX);
}

void chat_stream_release(struct chat_stream *s)
{
	struct buf *all[] = {&s->content,     &s->reasoning,        &s->refusal,
	                     &s->logprobs,    &s->token_ids,        &s->finish_reason,
	                     &s->stop_reason, &s->prompt_token_ids, &s->model,
	                     &s->usage,       &s->failure};

	for (size_t i = 0; i < ARRAY_LEN(all); i++) {
		buf_release(all[i]);
	}
	for (size_t i = 0; i < s->call_count; i++) {
		buf_release(&s->calls[i].id);
		buf_release(&s->calls[i].name);
		buf_release(&s->calls[i].arguments);
	}
	free(s->calls);
}

/* ---- pieces ---- */

static bool append_text(struct buf *out, struct str string)
{
	if (json_type(string) != JSON_STRING) {
		return false;
	}
	json_decode(string, out);
	return true;
}

static void set_raw(struct buf *out, struct str raw)
{
	if (!json_is_null(raw)) {
		buf_clear(out);
		buf_str(out, raw);
	}
}

static bool append_elements(struct buf *out, struct str array)
{
	struct str each;

	for (size_t cursor = 0; json_next(array, &cursor, &each);) {
		buf_text(out, out->n ? "," : "");
		buf_str(out, each);
	}
	return json_type(array) == JSON_ARRAY;
}

/* ---- calls ---- */

static struct chat_stream_call *new_call(struct chat_stream *s, int64_t index)
{
	if (s->call_count == CHAT_CALLS_MAX) {
		s->calls_dropped++;
		return NULL;
	}
	s->calls = mem_resize(s->calls, s->call_count + 1, sizeof(*s->calls));
	struct chat_stream_call *c = &s->calls[s->call_count++];
	*c = (struct chat_stream_call){.index = index,
	                               .id = BUF(BUF_MAX_SMALL),
	                               .name = BUF(BUF_MAX_SMALL),
	                               .arguments = BUF(CHAT_REPLY_MAX)};
	return c;
}

/* The call a piece belongs to: the last one of its index, unless it names a new id. A
   piece without an index goes on with the last call, or begins one by its id. */
static struct chat_stream_call *find_call(struct chat_stream *s, struct str piece)
{
	struct chat_stream_call *found = NULL;
	struct str id = JSON_GET(piece, "id");
	int64_t index = -1;

	json_i64(JSON_GET(piece, "index"), &index);
	for (size_t i = 0; i < s->call_count; i++) {
		if (s->calls[i].index == index || index < 0) {
			found = &s->calls[i];
		}
	}
	if (found && json_type(id) == JSON_STRING && found->has_id &&
	    !json_is(id, STR("")) && !json_is(id, buf_view(&found->id))) {
		found = NULL;
	}
	return found ? found : new_call(s, index);
}

static void take_call(struct chat_stream *s, struct str piece)
{
	struct chat_stream_call *c = find_call(s, piece);
	struct str function = JSON_GET(piece, "function");
	struct str arguments = JSON_GET(function, "arguments");

	if (!c) {
		return;
	}
	if (!c->has_id) {
		c->has_id = append_text(&c->id, JSON_GET(piece, "id")) && c->id.n > 0;
	}
	if (!c->has_name) {
		c->has_name = append_text(&c->name, JSON_GET(function, "name")) &&
		              c->name.n > 0;
	}
	if (!append_text(&c->arguments, arguments) && !json_is_null(arguments)) {
		set_raw(&c->arguments, arguments);
		c->not_text = true;
	}
}

/* ---- chunks ---- */

static void take_delta(struct chat_stream *s, struct str delta)
{
	struct str piece;

	s->has_content |= append_text(&s->content, JSON_GET(delta, "content"));
	s->has_reasoning |= append_text(&s->reasoning, chat_reasoning(delta));
	s->has_refusal |= append_text(&s->refusal, JSON_GET(delta, "refusal"));
	for (size_t cursor = 0;
	     json_next(JSON_GET(delta, "tool_calls"), &cursor, &piece);) {
		take_call(s, piece);
	}
}

static void take_choice(struct chat_stream *s, struct str choice)
{
	struct str finish = JSON_GET(choice, "finish_reason");
	int64_t index = 0;

	json_i64(JSON_GET(choice, "index"), &index);
	if (index != 0) {
		return; /* one is asked for */
	}
	take_delta(s, JSON_GET(choice, "delta"));
	if (json_type(finish) == JSON_STRING) {
		buf_clear(&s->finish_reason);
		json_decode(finish, &s->finish_reason);
	}
	set_raw(&s->stop_reason, JSON_GET(choice, "stop_reason"));
	s->has_logprobs |= append_elements(
		&s->logprobs, JSON_GET(JSON_GET(choice, "logprobs"), "content"));
	s->has_token_ids |= append_elements(&s->token_ids, JSON_GET(choice, "token_ids"));
}

static bool overfull(const struct chat_stream *s)
{
	bool full = s->content.full || s->reasoning.full || s->refusal.full ||
	            s->logprobs.full || s->token_ids.full || s->usage.full ||
	            s->prompt_token_ids.full;

	for (size_t i = 0; i < s->call_count; i++) {
		full |= s->calls[i].arguments.full || s->calls[i].name.full ||
		        s->calls[i].id.full;
	}
	return full;
}

int chat_stream_take(struct chat_stream *s, struct str data, struct error *err)
{
	struct json_fault fault;
	struct str choice;

	if (!data.n || s->done) {
		return 0;
	}
	if (str_is(data, "[DONE]")) {
		s->done = true;
		return 0;
	}
	if (json_validate(data, &fault)) {
		return error_set(err, FAIL_PROTOCOL,
		                 "a piece of the model's stream is not JSON: %s",
		                 fault.why);
	}
	if (!JSON_GET(data, "choices").p) {
		set_raw(&s->failure,
		        JSON_GET(data, "error").p ? data : (struct str){NULL, 0});
		return 0;
	}
	for (size_t cursor = 0; json_next(JSON_GET(data, "choices"), &cursor, &choice);) {
		take_choice(s, choice);
	}
	set_raw(&s->usage, JSON_GET(data, "usage"));
	set_raw(&s->model, JSON_GET(data, "model"));
	if (!s->prompt_token_ids.n) {
		set_raw(&s->prompt_token_ids, JSON_GET(data, "prompt_token_ids"));
	}
	return overfull(s) ? error_set(err, FAIL_PROTOCOL,
	                               "the model's reply is over %zu MiB",
	                               CHAT_REPLY_MAX >> 20)
	                   : 0;
}

struct str chat_stream_failure(const struct chat_stream *s)
{
	return s->failure.n ? buf_view(&s->failure) : (struct str){NULL, 0};
}

/* ---- the whole ---- */

static struct str keep(struct arena *a, bool there, const struct buf *b)
{
	return there ? arena_str(a, buf_view(b)) : (struct str){NULL, 0};
}

static struct str wrap(struct arena *a, bool there, const char *before,
                       const struct buf *elements, const char *after)
{
	struct buf text = BUF(CHAT_REPLY_MAX + 64);

	if (!there) {
		return (struct str){NULL, 0};
	}
	buf_text(&text, before);
	buf_str(&text, buf_view(elements));
	buf_text(&text, after);
	struct str kept = arena_str(a, buf_view(&text));
	buf_release(&text);
	return kept;
}

void chat_stream_reply(const struct chat_stream *s, bool ended_well,
                       struct chat_reply *out)
{
	*out = (struct chat_reply){.call_count = s->call_count,
	                           .calls_dropped = s->calls_dropped};
	struct arena *a = &out->arena;

	out->incomplete = !ended_well || !s->finish_reason.n;
	out->content = keep(a, s->has_content, &s->content);
	out->reasoning = keep(a, s->has_reasoning, &s->reasoning);
	out->refusal = keep(a, s->has_refusal, &s->refusal);
	out->finish_reason = keep(a, s->finish_reason.n > 0, &s->finish_reason);
	out->stop_reason = keep(a, s->stop_reason.n > 0, &s->stop_reason);
	out->usage = keep(a, s->usage.n > 0, &s->usage);
	out->model = keep(a, s->model.n > 0, &s->model);
	out->prompt_token_ids = keep(a, s->prompt_token_ids.n > 0, &s->prompt_token_ids);
	out->logprobs = wrap(a, s->has_logprobs, "{\"content\":[", &s->logprobs, "]}");
	out->token_ids = wrap(a, s->has_token_ids, "[", &s->token_ids, "]");
	out->calls = arena_new(a, (s->call_count + 1) * sizeof(*out->calls));
	for (size_t i = 0; i < s->call_count; i++) {
		const struct chat_stream_call *c = &s->calls[i];

		out->calls[i] = (struct chat_call){
			.id = keep(a, c->has_id, &c->id),
			.name = keep(a, c->has_name, &c->name),
			.arguments = arena_str(a, buf_view(&c->arguments)),
			.not_text = c->not_text};
	}
}
