/* Parses chat completions: see reply.h. Member names follow the servers' sources, on the basis
   of OpenAI's reference. */
#include "policy/llm/reply.h"

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

static struct str reasoning_of(struct str reasoning, struct str content)
{
	return json_type(reasoning) == JSON_STRING ? reasoning : content;
}

struct str chat_reasoning(struct str message)
{
	return reasoning_of(JSON_GET(message, "reasoning"), JSON_GET(message, "reasoning_content"));
}

static void add_call(struct chat_reply *out, struct str id, struct str function)
{
	enum { NAME, ARGUMENTS, COUNT };
	static const struct str keys[COUNT] = {STR_INIT("name"), STR_INIT("arguments")};
	struct str values[COUNT];
	struct arena *a = &out->arena;

	json_pick(function, keys, COUNT, values);
	bool text = json_type(values[ARGUMENTS]) == JSON_STRING;

	out->calls = arena_grow(a, out->calls, out->call_count, sizeof(*out->calls));
	out->calls[out->call_count++] = (struct chat_call){
		.id = json_text(a, id),
		.name = json_text(a, values[NAME]),
		.arguments = text ? json_text(a, values[ARGUMENTS]) : kept(a, values[ARGUMENTS]),
		.not_text = !text && !json_is_null(values[ARGUMENTS]),
	};
}

/* `function_call` is the older form; servers that send both mean the same call. */
static void read_calls(struct str list, struct str old, struct chat_reply *out)
{
	enum { ID, FUNCTION, COUNT };
	static const struct str keys[COUNT] = {STR_INIT("id"), STR_INIT("function")};
	struct str more, values[COUNT];
	size_t cursor = 0;

	while (out->call_count < CHAT_CALLS_MAX &&
	       json_next_picked(list, &cursor, keys, COUNT, values)) {
		add_call(out, values[ID], values[FUNCTION]);
	}
	while (out->call_count == CHAT_CALLS_MAX && json_next(list, &cursor, &more)) {
		out->calls_dropped++;
	}
	out->calls_no_list = !json_is_null(list) && json_type(list) != JSON_ARRAY;
	if (!out->call_count && json_type(old) == JSON_OBJECT) {
		add_call(out, STR_NONE, old);
	}
}

/* The start of an invalid reply, for the error message. */
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

/* The members of a choice that are looked at. */
enum { INDEX, MESSAGE, FINISH, STOP, LOGPROBS, TOKENS, CHOICE_MEMBERS };

static const struct str choice_keys[CHOICE_MEMBERS] = {
	[INDEX] = STR_INIT("index"),          [MESSAGE] = STR_INIT("message"),
	[FINISH] = STR_INIT("finish_reason"), [STOP] = STR_INIT("stop_reason"),
	[LOGPROBS] = STR_INIT("logprobs"),    [TOKENS] = STR_INIT("token_ids")};

/* Those of the choice with index 0, at any position, since only one is requested, else of the
   first. False: there are no choices. */
static bool pick_choice(struct str choices, struct str values[CHOICE_MEMBERS])
{
	struct str others[CHOICE_MEMBERS];
	size_t cursor = 0;
	int64_t index;

	if (!json_next_picked(choices, &cursor, choice_keys, CHOICE_MEMBERS, values)) {
		return false;
	}
	if (json_i64(values[INDEX], &index) && index == 0) {
		return true;
	}
	while (json_next_picked(choices, &cursor, choice_keys, CHOICE_MEMBERS, others)) {
		if (json_i64(others[INDEX], &index) && index == 0) {
			memcpy(values, others, sizeof(others));
			return true;
		}
	}
	return true;
}

static void read_choice(struct arena *a, const struct str *values, struct chat_reply *out)
{
	out->finish_reason = json_text(a, values[FINISH]);
	out->stop_reason = kept(a, values[STOP]);
	out->logprobs = kept(a, values[LOGPROBS]);
	out->token_ids = kept(a, values[TOKENS]);
}

static void read_message(struct arena *a, struct str message, struct chat_reply *out)
{
	enum { CONTENT, REASONING, REASONING_CONTENT, REFUSAL, CALLS, OLD_CALL, COUNT };
	static const struct str keys[COUNT] = {
		STR_INIT("content"), STR_INIT("reasoning"),  STR_INIT("reasoning_content"),
		STR_INIT("refusal"), STR_INIT("tool_calls"), STR_INIT("function_call")};
	struct str values[COUNT];

	json_pick(message, keys, COUNT, values);
	out->content = joined(a, values[CONTENT], chat_content);
	out->reasoning = json_text(a, reasoning_of(values[REASONING], values[REASONING_CONTENT]));
	if (!out->reasoning.p) {
		out->reasoning = joined(a, values[CONTENT], chat_thoughts);
	}
	out->refusal = json_text(a, values[REFUSAL]);
	read_calls(values[CALLS], values[OLD_CALL], out);
}

int chat_reply_take(struct str body, struct chat_reply *out, struct error *err)
{
	enum { CHOICES, PROMPT, USAGE, MODEL, COUNT };
	static const struct str keys[COUNT] = {STR_INIT("choices"), STR_INIT("prompt_token_ids"),
	                                       STR_INIT("usage"), STR_INIT("model")};
	struct str values[COUNT], choice[CHOICE_MEMBERS];

	*out = (struct chat_reply){.calls = NULL};
	json_pick(body, keys, COUNT, values);
	if (!pick_choice(values[CHOICES], choice)) {
		return not_completion(body, "it has no choices", err);
	}
	if (json_type(choice[MESSAGE]) != JSON_OBJECT) {
		return not_completion(body, "its choice has no message", err);
	}
	struct arena *a = &out->arena;
	read_message(a, choice[MESSAGE], out);
	read_choice(a, choice, out);
	out->prompt_token_ids = kept(a, values[PROMPT]);
	out->usage = kept(a, values[USAGE]);
	out->model = kept(a, values[MODEL]);
	return 0;
}

int chat_reply_read(struct str body, struct chat_reply *out, struct error *err)
{
	struct json_fault fault;

	*out = (struct chat_reply){.calls = NULL};
	body = text_trim(body); /* blanks keep slow connections open */
	if (!body.n) {
		return not_completion(body, "it is empty", err);
	}
	if (json_validate(body, &fault)) {
		return not_completion(body, fault.why, err);
	}
	return chat_reply_take(body, out, err);
}

void chat_reply_release(struct chat_reply *r)
{
	arena_release(&r->arena);
	*r = (struct chat_reply){.calls = NULL};
}
