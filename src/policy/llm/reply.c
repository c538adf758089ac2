/* Reading chat-completions replies: see reply.h. Member names follow the servers' sources, with
   OpenAI's reference as the common base. */
#include "policy/llm/reply.h"

#include "base/text.h"

bool chat_content(struct str content, struct buf *out)
{
	struct str part;

	if (json_type(content) == JSON_STRING) {
		json_decode(content, out);
		return true;
	}
	for (size_t cursor = 0; json_next(content, &cursor, &part);) {
		struct str text = JSON_GET(part, "text");

		if (json_type(text) == JSON_STRING) {
			json_decode(text, out);
		}
	}
	return json_type(content) == JSON_ARRAY;
}

bool chat_thoughts(struct str content, struct buf *out)
{
	struct str part;
	bool any = false;

	for (size_t cursor = 0; json_next(content, &cursor, &part);) {
		any |= chat_content(JSON_GET(part, "thinking"), out);
	}
	return any;
}

static struct str joined(struct arena *a, struct str content,
                         bool (*join)(struct str content, struct buf *out))
{
	struct buf text = BUF(CHAT_REPLY_MAX);
	struct str kept = STR_NONE;

	if (join(content, &text)) {
		kept = arena_str(a, buf_view(&text));
	}
	buf_release(&text);
	return kept;
}

static struct str kept(struct arena *a, struct str raw)
{
	return json_is_null(raw) ? STR_NONE : arena_str(a, raw);
}

struct str chat_reasoning(struct str message)
{
	struct str reasoning = JSON_GET(message, "reasoning");

	return json_type(reasoning) == JSON_STRING ? reasoning
	                                           : JSON_GET(message, "reasoning_content");
}

static struct chat_call read_call(struct arena *a, struct str id, struct str function)
{
	struct str arguments = JSON_GET(function, "arguments");
	bool text = json_type(arguments) == JSON_STRING;

	return (struct chat_call){
		.id = json_text(a, id),
		.name = json_text(a, JSON_GET(function, "name")),
		.arguments = text ? json_text(a, arguments) : kept(a, arguments),
		.not_text = !text && !json_is_null(arguments),
	};
}

/* `function_call` is the older form; servers that give both mean one call. */
static void read_calls(struct str message, struct chat_reply *out)
{
	struct str list = JSON_GET(message, "tool_calls"), call;
	struct str old = JSON_GET(message, "function_call");
	size_t count = json_type(list) == JSON_ARRAY ? json_count(list) : 0;
	size_t room = count < CHAT_CALLS_MAX ? count : CHAT_CALLS_MAX;

	out->calls = arena_new(&out->arena, (room + 1) * sizeof(*out->calls));
	for (size_t cursor = 0; count && json_next(list, &cursor, &call);) {
		if (out->call_count == room) {
			out->calls_dropped++;
			continue;
		}
		out->calls[out->call_count++] =
			read_call(&out->arena, JSON_GET(call, "id"), JSON_GET(call, "function"));
	}
	if (!count && json_type(old) == JSON_OBJECT) {
		out->calls[out->call_count++] = read_call(&out->arena, STR_NONE, old);
	}
}

/* The start of an invalid reply, for the error message. */
static int no_completion(struct str body, const char *why, struct error *err)
{
	struct buf text = BUF(BUF_MAX_SMALL);

	text_escape_cut(&text, body, 120);
	error_set(err, FAIL_PROTOCOL, "the reply is not a chat completion: %s%s%s%s", why,
	          body.n ? " (it starts with: " : "", buf_cstr(&text), body.n ? ")" : "");
	buf_release(&text);
	return -1;
}

/* The choice of index 0, wherever it stands: one is requested. */
static struct str choice_of(struct str body)
{
	struct str first = STR_NONE, each;
	int64_t index;

	for (size_t cursor = 0; json_next(JSON_GET(body, "choices"), &cursor, &each);) {
		if (json_i64(JSON_GET(each, "index"), &index) && index == 0) {
			return each;
		}
		first = first.p ? first : each;
	}
	return first;
}

int chat_reply_read(struct str body, struct chat_reply *out, struct error *err)
{
	struct json_fault fault;
	struct str choice, message;

	*out = (struct chat_reply){.calls = NULL};
	body = text_trim(body); /* blanks keep slow connections open */
	if (!body.n) {
		return no_completion(body, "it is empty", err);
	}
	if (json_validate(body, &fault)) {
		return no_completion(body, fault.why, err);
	}
	choice = choice_of(body);
	if (!choice.p) {
		return no_completion(body, "it has no choices", err);
	}
	message = JSON_GET(choice, "message");
	if (json_type(message) != JSON_OBJECT) {
		return no_completion(body, "its choice has no message", err);
	}
	struct arena *a = &out->arena;
	out->content = joined(a, JSON_GET(message, "content"), chat_content);
	out->reasoning = json_text(a, chat_reasoning(message));
	if (!out->reasoning.p) {
		out->reasoning = joined(a, JSON_GET(message, "content"), chat_thoughts);
	}
	out->refusal = json_text(a, JSON_GET(message, "refusal"));
	out->finish_reason = json_text(a, JSON_GET(choice, "finish_reason"));
	out->stop_reason = kept(a, JSON_GET(choice, "stop_reason"));
	out->logprobs = kept(a, JSON_GET(choice, "logprobs"));
	out->token_ids = kept(a, JSON_GET(choice, "token_ids"));
	out->prompt_token_ids = kept(a, JSON_GET(body, "prompt_token_ids"));
	out->usage = kept(a, JSON_GET(body, "usage"));
	out->model = kept(a, JSON_GET(body, "model"));
	read_calls(message, out);
	return 0;
}

void chat_reply_release(struct chat_reply *r)
{
	arena_release(&r->arena);
	*r = (struct chat_reply){.calls = NULL};
}
