/* Reads chat completions, whole or in chunks: see completion.h. Member names follow the servers' sources,
   on the basis of OpenAI's reference. */
#include "policy/llm/completion.h"

#include "base/html.h"
#include "base/text.h"

#include <stdlib.h>

static const char *const logprob_lists[CHAT_LOGPROBS] = {
	"content",      "refusal",     "tokens",    "token_logprobs",
	"top_logprobs", "text_offset", "token_ids",
};

void chat_stream_init(struct chat_stream *s)
{
	*s = (struct chat_stream){.calls = NULL};
	for (size_t i = 0; i < ARRAY_LEN(s->parts); i++)
		s->parts[i] = BUF(CHAT_REPLY_MAX);
}

void chat_stream_release(struct chat_stream *s)
{
	for (size_t i = 0; i < ARRAY_LEN(s->parts); i++)
		buf_release(&s->parts[i]);
	for (size_t i = 0; i < s->call_count; i++)
		BUFS_RELEASE(&s->calls[i].id, &s->calls[i].name, &s->calls[i].arguments);
	free(s->calls);
}

/* ---- pieces ---- */

static bool append_text(struct buf *out, struct str string)
{
	if (json_type(string) != JSON_STRING)
		return false;
	json_decode(string, out);
	return true;
}

void chat_stream_raw(struct buf *out, struct str raw)
{
	if (!json_is_null(raw))
		buf_set(out, raw);
}

/* A part that was sent has bytes, even if there are none of them. */
static void mark_sent(struct buf *part, bool sent)
{
	if (sent)
		buf_text(part, "");
}

void chat_stream_text(struct buf *part, struct str string)
{
	mark_sent(part, append_text(part, string));
}

static void append_elements(struct buf *out, struct str array)
{
	struct str each;

	mark_sent(out, json_type(array) == JSON_ARRAY);
	for (size_t cursor = 0; json_next(array, &cursor, &each);) {
		buf_text(out, out->n ? "," : "");
		buf_str(out, each);
	}
}

/* ---- calls ---- */

static struct chat_stream_call *new_call(struct chat_stream *s, int64_t index)
{
	if (s->call_count == CHAT_CALLS_MAX) {
		s->calls_dropped++;
		return NULL;
	}
	s->calls = mem_resize(s->calls, s->call_count + 1, sizeof(*s->calls));
	s->calls[s->call_count] = (struct chat_stream_call){.index = index,
	                                                    .id = BUF(CHAT_REPLY_MAX),
	                                                    .name = BUF(CHAT_REPLY_MAX),
	                                                    .arguments = BUF(CHAT_REPLY_MAX)};
	return &s->calls[s->call_count++];
}

/* Does the chunk name a function and start an object, after the call's object was complete? Some
   servers send whole calls, all without an index. */
static bool starts_new_call(const struct chat_stream_call *c, const struct chat_call_piece *piece)
{
	return c->arguments.n && c->arguments.p[c->arguments.n - 1] == '}' &&
	       json_type(piece->name) == JSON_STRING &&
	       (json_type(piece->arguments) == JSON_OBJECT ||
	        str_starts(json_inner(piece->arguments), STR("{")));
}

/* The call a chunk belongs to: the last one with its index, unless it has a new id. Without an
   index: the last call, or a new one if it has an id. */
static struct chat_stream_call *find_call(struct chat_stream *s,
                                          const struct chat_call_piece *piece)
{
	struct chat_stream_call *found = NULL;
	bool named = json_type(piece->id) == JSON_STRING && !json_is(piece->id, STR(""));

	for (size_t i = 0; i < s->call_count; i++)
		if (s->calls[i].index == piece->index || piece->index < 0)
			found = &s->calls[i];
	if (found && (named ? found->id.n && !json_is(piece->id, buf_view(&found->id))
	                    : !found->id.n && starts_new_call(found, piece))) {
		found = NULL;
	}
	return found ? found : new_call(s, piece->index);
}

void chat_stream_call(struct chat_stream *s, const struct chat_call_piece *piece)
{
	struct chat_stream_call *c = find_call(s, piece);

	if (!c)
		return;
	if (!c->id.n)
		append_text(&c->id, piece->id);
	if (!c->name.n)
		append_text(&c->name, piece->name);
	if (json_type(piece->arguments) == JSON_STRING) {
		chat_stream_text(&c->arguments, piece->arguments);
	} else if (!json_is_null(piece->arguments)) {
		chat_stream_raw(&c->arguments, piece->arguments);
		c->not_text = true;
	}
}

static void merge_call(struct chat_stream *s, int64_t index, struct str piece)
{
	struct str function = JSON_GET(piece, "function");
	struct chat_call_piece p = {index, JSON_GET(piece, "id"), JSON_GET(function, "name"),
	                            JSON_GET(function, "arguments")};

	chat_stream_call(s, &p);
}

/* ---- messages ---- */

bool chat_content(struct str content, struct buf *out)
{
	struct str part;

	if (json_type(content) == JSON_STRING) {
		json_decode(content, out);
		return true;
	}
	for (size_t cursor = 0; json_next(content, &cursor, &part);) {
		struct str text = JSON_GET(part, "text");

		if (json_type(text) == JSON_STRING)
			json_decode(text, out);
	}
	return json_type(content) == JSON_ARRAY;
}

/* The same for the thinking parts in it; false: there are none. */
static bool chat_thoughts(struct str content, struct buf *out)
{
	struct str part;
	bool any = false;

	for (size_t cursor = 0; json_next(content, &cursor, &part);)
		any |= chat_content(JSON_GET(part, "thinking"), out);
	return any;
}

static struct str chat_reasoning(struct str message)
{
	struct str reasoning = JSON_GET(message, "reasoning");

	return json_type(reasoning) == JSON_STRING ? reasoning
	                                           : JSON_GET(message, "reasoning_content");
}

/* A streamed delta, or a whole message but its calls. */
static void merge_text(struct chat_stream *s, struct str delta)
{
	struct str content = JSON_GET(delta, "content");

	mark_sent(&s->content, chat_content(content, &s->content));
	mark_sent(&s->reasoning, append_text(&s->reasoning, chat_reasoning(delta)) ||
	                                 chat_thoughts(content, &s->reasoning));
	chat_stream_text(&s->refusal, JSON_GET(delta, "refusal"));
}

static void merge_end(struct chat_stream *s, struct str choice)
{
	struct str finish = JSON_GET(choice, "finish_reason");

	if (json_type(finish) == JSON_STRING) {
		buf_clear(&s->finish_reason);
		json_decode(finish, &s->finish_reason);
	}
	chat_stream_raw(&s->stop_reason, JSON_GET(choice, "stop_reason"));
	if (!s->prompt_token_ids.n)
		chat_stream_raw(&s->prompt_token_ids, JSON_GET(choice, "prompt_token_ids"));
}

static void merge_facts(struct chat_stream *s, struct str body)
{
	chat_stream_raw(&s->usage, JSON_GET(body, "usage"));
	chat_stream_raw(&s->model, JSON_GET(body, "model"));
	if (!s->prompt_token_ids.n)
		chat_stream_raw(&s->prompt_token_ids, JSON_GET(body, "prompt_token_ids"));
}

/* ---- chunks ---- */

static void merge_choice(struct chat_stream *s, struct str choice)
{
	struct str logprobs = JSON_GET(choice, "logprobs"), delta = JSON_GET(choice, "delta"), call;

	merge_text(s, delta);
	chat_stream_text(&s->content, JSON_GET(choice, "text"));
	for (size_t cursor = 0; json_next(JSON_GET(delta, "tool_calls"), &cursor, &call);) {
		int64_t index = -1;

		json_i64(JSON_GET(call, "index"), &index);
		merge_call(s, index, call);
	}
	merge_end(s, choice);
	for (size_t i = 0; i < CHAT_LOGPROBS; i++)
		append_elements(&s->logprobs[i], json_get(logprobs, str_from(logprob_lists[i])));
	append_elements(&s->token_ids, JSON_GET(choice, "token_ids"));
}

int chat_stream_check(const struct chat_stream *s, struct error *err)
{
	bool full = false;

	for (size_t i = 0; i < ARRAY_LEN(s->parts); i++)
		full |= s->parts[i].full;
	for (size_t i = 0; i < s->call_count; i++)
		full |= s->calls[i].arguments.full || s->calls[i].name.full || s->calls[i].id.full;
	return full ? error_set(err, FAIL_PROTOCOL, "the model's reply is over %zu MiB",
	                        CHAT_REPLY_MAX >> 20)
	            : 0;
}

/* {"error":..}, possibly next to choices; or an error object as the whole event. */
static bool is_failure(struct str data)
{
	return !json_is_null(JSON_GET(data, "error")) ||
	       json_is(JSON_GET(data, "object"), STR("error"));
}

int chat_stream_add(struct chat_stream *s, struct str data, struct error *err)
{
	struct json_fault fault;
	struct str choice;
	int64_t index = 0;

	if (!data.n || s->done)
		return 0;
	if (str_is(data, "[DONE]")) {
		s->done = true;
		return 0;
	}
	if (json_validate(data, &fault)) {
		return error_set(err, FAIL_PROTOCOL,
		                 "a chunk of the model's stream is not JSON: %s", fault.why);
	}
	if (is_failure(data)) {
		chat_stream_raw(&s->failure, data);
		return 0;
	}
	for (size_t cursor = 0; json_next(JSON_GET(data, "choices"), &cursor, &choice);)
		if (!json_i64(JSON_GET(choice, "index"), &index) || index == 0)
			merge_choice(s, choice); /* only one is requested */
	merge_facts(s, data);
	return chat_stream_check(s, err);
}

int chat_stream_choice(struct chat_stream *s, struct str choice, struct str chunk,
                       struct error *err)
{
	merge_choice(s, choice);
	merge_facts(s, chunk);
	return chat_stream_check(s, err);
}

struct str chat_stream_failure(const struct chat_stream *s)
{
	return buf_given(&s->failure);
}

/* ---- the merged reply ---- */

/* Absent if it was not sent. */
static struct str copy_part(struct arena *a, const struct buf *b)
{
	return b->p ? arena_str(a, buf_view(b)) : STR_NONE;
}

static void put_list(struct buf *out, const struct buf *elements)
{
	buf_char(out, '[');
	buf_str(out, buf_view(elements));
	buf_char(out, ']');
}

static struct str whole_logprobs(struct arena *a, const struct chat_stream *s)
{
	struct buf text = BUF(CHAT_LOGPROBS * (CHAT_REPLY_MAX + 64));

	for (size_t i = 0; i < CHAT_LOGPROBS; i++) {
		if (s->logprobs[i].p) {
			buf_printf(&text, "%c\"%s\":", text.n ? ',' : '{', logprob_lists[i]);
			put_list(&text, &s->logprobs[i]);
		}
	}
	if (!text.n)
		return STR_NONE;
	buf_char(&text, '}');
	return buf_keep(&text, a);
}

void chat_stream_reply(const struct chat_stream *s, bool ended_well, struct chat_reply *out)
{
	AUTO_BUF token_ids = BUF(CHAT_REPLY_MAX + 64);
	struct arena *a = &out->arena;

	*out = (struct chat_reply){.call_count = s->call_count, .calls_dropped = s->calls_dropped};
	if (s->token_ids.p)
		put_list(&token_ids, &s->token_ids);
	out->incomplete = !ended_well || !s->finish_reason.n;
	out->content = copy_part(a, &s->content);
	out->reasoning = copy_part(a, &s->reasoning);
	out->refusal = copy_part(a, &s->refusal);
	out->finish_reason = s->finish_reason.n ? copy_part(a, &s->finish_reason) : STR_NONE;
	out->stop_reason = copy_part(a, &s->stop_reason);
	out->usage = copy_part(a, &s->usage);
	out->model = copy_part(a, &s->model);
	out->prompt_token_ids = copy_part(a, &s->prompt_token_ids);
	out->logprobs = whole_logprobs(a, s);
	out->token_ids = copy_part(a, &token_ids);
	out->calls = arena_new(a, (s->call_count + 1) * sizeof(*out->calls));
	for (size_t i = 0; i < s->call_count; i++) {
		const struct chat_stream_call *c = &s->calls[i];

		out->calls[i] =
			(struct chat_call){.id = c->id.n ? copy_part(a, &c->id) : STR_NONE,
		                           .name = c->name.n ? copy_part(a, &c->name) : STR_NONE,
		                           .arguments = copy_part(a, &c->arguments),
		                           .not_text = c->not_text};
	}
}

/* ---- whole completions ---- */

static int not_completion(struct str body, const char *why, struct error *err)
{
	AUTO_BUF text = BUF(BUF_MAX_SMALL);

	if (html_is_page(body)) {
		html_summary(body, &text);
		return error_set(err, FAIL_PROTOCOL,
		                 "%s instead of a chat completion: check the base URL",
		                 buf_cstr(&text));
	}
	text_escape_cut(&text, body, 120);
	return error_set(err, FAIL_PROTOCOL, "the reply is not a chat completion: %s%s%s%s", why,
	                 body.n ? " (it starts with: " : "", buf_cstr(&text), body.n ? ")" : "");
}

/* The choice with index 0, at any position, since only one is requested, else the first; absent:
   there are none. */
static struct str find_choice(struct str choices)
{
	struct str each, first = STR_NONE;
	int64_t index;

	for (size_t cursor = 0; json_next(choices, &cursor, &each);) {
		if (json_i64(JSON_GET(each, "index"), &index) && index == 0)
			return each;
		first = first.p ? first : each;
	}
	return first;
}

static struct str kept(struct arena *a, struct str raw)
{
	return json_is_null(raw) ? STR_NONE : arena_str(a, raw);
}

int chat_reply_take(struct str body, struct chat_reply *out, struct error *err)
{
	struct str choice = find_choice(JSON_GET(body, "choices"));

	*out = (struct chat_reply){.calls = NULL};
	if (!choice.p)
		return not_completion(body, "it has no choices", err);
	if (json_type(JSON_GET(choice, "message")) != JSON_OBJECT)
		return not_completion(body, "its choice has no message", err);
	chat_reply_choice(choice, body, out);
	return 0;
}

void chat_reply_choice(struct str choice, struct str body, struct chat_reply *out)
{
	struct str message = JSON_GET(choice, "message"), calls = JSON_GET(message, "tool_calls");
	struct chat_stream s;
	struct str call;
	int64_t index = 0;

	chat_stream_init(&s);
	merge_text(&s, message);
	chat_stream_text(&s.content, JSON_GET(choice, "text"));
	for (size_t cursor = 0; json_next(calls, &cursor, &call); index++)
		merge_call(&s, index, call);
	merge_end(&s, choice);
	merge_facts(&s, body);
	chat_stream_reply(&s, true, out);
	chat_stream_release(&s);
	out->incomplete = false; /* with or without a finish reason */
	out->calls_no_list = !json_is_null(calls) && json_type(calls) != JSON_ARRAY;
	out->logprobs = kept(&out->arena, JSON_GET(choice, "logprobs"));
	out->token_ids = kept(&out->arena, JSON_GET(choice, "token_ids"));
}

int chat_reply_read(struct str body, struct chat_reply *out, struct error *err)
{
	struct json_fault fault;

	*out = (struct chat_reply){.calls = NULL};
	body = text_trim(body); /* blanks keep slow connections open */
	if (!body.n)
		return not_completion(body, "it is empty", err);
	if (json_validate(body, &fault))
		return not_completion(body, fault.why, err);
	return chat_reply_take(body, out, err);
}

void chat_reply_release(struct chat_reply *r)
{
	arena_release(&r->arena);
	*r = (struct chat_reply){.calls = NULL};
}
