/* Parses chat completions: see completion.h. Member names follow the servers' sources, on the basis
   of OpenAI's reference. */
#include "policy/llm/completion.h"

#include "base/html.h"
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

		if (json_type(text) == JSON_STRING)
			json_decode(text, out);
	}
	return json_type(content) == JSON_ARRAY;
}

bool chat_thoughts(struct str content, struct buf *out)
{
	struct str part;
	bool any = false;

	for (size_t cursor = 0; json_next(content, &cursor, &part);)
		any |= chat_content(JSON_GET(part, "thinking"), out);
	return any;
}

static struct str joined(struct arena *a, struct str content,
                         bool (*join)(struct str content, struct buf *out))
{
	struct buf text = BUF(CHAT_REPLY_MAX);
	struct str kept = STR_NONE;

	if (join(content, &text))
		kept = arena_str(a, buf_view(&text));
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

static void add_call(struct chat_reply *out, struct str id, struct str function)
{
	struct arena *a = &out->arena;
	struct str arguments = JSON_GET(function, "arguments");
	bool text = json_type(arguments) == JSON_STRING;

	out->calls = arena_grow(a, out->calls, out->call_count, sizeof(*out->calls));
	out->calls[out->call_count++] = (struct chat_call){
		.id = json_text(a, id),
		.name = json_text(a, JSON_GET(function, "name")),
		.arguments = text ? json_text(a, arguments) : kept(a, arguments),
		.not_text = !text && !json_is_null(arguments),
	};
}

static void read_calls(struct str list, struct chat_reply *out)
{
	struct str call;
	size_t cursor = 0;

	while (out->call_count < CHAT_CALLS_MAX && json_next(list, &cursor, &call))
		add_call(out, JSON_GET(call, "id"), JSON_GET(call, "function"));
	while (out->call_count == CHAT_CALLS_MAX && json_next(list, &cursor, &call))
		out->calls_dropped++;
	out->calls_no_list = !json_is_null(list) && json_type(list) != JSON_ARRAY;
}

static int not_completion(struct str body, const char *why, struct error *err)
{
	struct buf text = BUF(BUF_MAX_SMALL);

	if (html_is_page(body)) {
		html_summary(body, &text);
		error_set(err, FAIL_PROTOCOL, "%s instead of a chat completion: check the base URL",
		          buf_cstr(&text));
		buf_release(&text);
		return -1;
	}
	text_escape_cut(&text, body, 120);
	error_set(err, FAIL_PROTOCOL, "the reply is not a chat completion: %s%s%s%s", why,
	          body.n ? " (it starts with: " : "", buf_cstr(&text), body.n ? ")" : "");
	buf_release(&text);
	return -1;
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

static void read_message(struct arena *a, struct str message, struct chat_reply *out)
{
	struct str content = JSON_GET(message, "content");

	out->content = joined(a, content, chat_content);
	out->reasoning = json_text(a, chat_reasoning(message));
	if (!out->reasoning.p)
		out->reasoning = joined(a, content, chat_thoughts);
	out->refusal = json_text(a, JSON_GET(message, "refusal"));
	read_calls(JSON_GET(message, "tool_calls"), out);
}

int chat_reply_take(struct str body, struct chat_reply *out, struct error *err)
{
	struct str choice = find_choice(JSON_GET(body, "choices"));
	struct str message = JSON_GET(choice, "message");
	struct arena *a = &out->arena;

	*out = (struct chat_reply){.calls = NULL};
	if (!choice.p)
		return not_completion(body, "it has no choices", err);
	if (json_type(message) != JSON_OBJECT)
		return not_completion(body, "its choice has no message", err);
	read_message(a, message, out);
	out->finish_reason = json_text(a, JSON_GET(choice, "finish_reason"));
	out->stop_reason = kept(a, JSON_GET(choice, "stop_reason"));
	out->logprobs = kept(a, JSON_GET(choice, "logprobs"));
	out->token_ids = kept(a, JSON_GET(choice, "token_ids"));
	out->prompt_token_ids = kept(a, JSON_GET(body, "prompt_token_ids"));
	out->usage = kept(a, JSON_GET(body, "usage"));
	out->model = kept(a, JSON_GET(body, "model"));
	return 0;
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
