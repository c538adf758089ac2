/* Anthropic's Messages API: the system prompt is a separate member, content is a list of blocks,
   which include calls and their results. Field names as in the official client (anthropic-sdk-
   python, types/). */
#include "policy/llm/api_internal.h"

#define MAX_TOKENS "4096" /* the API requires a limit */

/* ---- the request ---- */

static void put_text_block(struct json_writer *w, struct str text)
{
	jw_pack(w, "{type:'text',text:%r}", text);
}

static void put_call(struct json_writer *w, struct str call)
{
	struct str function = JSON_GET(call, "function"),
		   arguments = JSON_GET(function, "arguments");
	AUTO_BUF text = BUF(BUF_MAX_MESSAGE);
	bool object = json_type(arguments) == JSON_STRING && json_decode(arguments, &text) &&
	              json_is_valid(buf_view(&text)) && json_type(buf_view(&text)) == JSON_OBJECT;

	jw_pack(w, "{type:'tool_use',id:%?r,name:%?r,input:%r}", JSON_GET(call, "id"),
	        JSON_GET(function, "name"), object ? buf_view(&text) : STR("{}"));
}

static void put_assistant(struct json_writer *w, struct str message)
{
	struct str content = JSON_GET(message, "content"), calls = JSON_GET(message, "tool_calls"),
		   call;
	bool empty = json_is_null(content) || json_is(content, STR(""));

	if (!empty)
		put_text_block(w, content);
	else if (!json_count(calls))
		put_text_block(w, STR("\"(empty)\"")); /* an empty text is rejected */
	for (size_t cursor = 0; json_next(calls, &cursor, &call);)
		put_call(w, call);
}

/* Consecutive results and user messages become one message. */
static void put_messages(struct json_writer *w, struct str messages)
{
	struct str message, last = STR_NONE;

	jw_pack(w, "messages:[");
	for (size_t cursor = 0; json_next(messages, &cursor, &message);) {
		struct str role = JSON_GET(message, "role");
		bool assistant = json_is(role, STR("assistant")), tool = json_is(role, STR("tool"));

		if (json_is(role, STR("system")))
			continue;
		struct str now = assistant ? STR("assistant") : STR("user");

		if (last.p && !str_eq(last, now))
			jw_pack(w, "]}");
		if (!last.p || !str_eq(last, now))
			jw_pack(w, "{role:%s,content:[", now);
		last = now;
		if (assistant)
			put_assistant(w, message);
		else if (tool)
			jw_pack(w, "{type:'tool_result',tool_use_id:%?r,content:%?r}",
			        JSON_GET(message, "tool_call_id"), JSON_GET(message, "content"));
		else
			put_text_block(w, JSON_GET(message, "content"));
	}
	jw_pack(w, last.p ? "]}]" : "]");
}

static void put_system(struct json_writer *w, struct str messages)
{
	AUTO_BUF text = BUF(BUF_MAX_MESSAGE);
	struct str message;

	for (size_t cursor = 0; json_next(messages, &cursor, &message);) {
		if (json_is(JSON_GET(message, "role"), STR("system"))) {
			buf_text(&text, text.n ? "\n" : "");
			json_decode(JSON_GET(message, "content"), &text);
		}
	}
	if (text.n)
		jw_pack(w, "system:%s", buf_view(&text));
}

static void put_tool(struct json_writer *w, struct str tool)
{
	struct str function = JSON_GET(tool, "function");

	jw_pack(w, "{name:%?r,description:%?r,input_schema:%?r}", JSON_GET(function, "name"),
	        JSON_GET(function, "description"), JSON_GET(function, "parameters"));
}

static void put_choice(struct json_writer *w, struct str choice)
{
	struct str name = JSON_GET(JSON_GET(choice, "function"), "name");

	if (name.p)
		jw_pack(w, "tool_choice:{type:'tool',name:%r}", name);
	else if (json_is(choice, STR("required")))
		jw_pack(w, "tool_choice:{type:'any'}");
	else
		jw_pack(w, "tool_choice:{type:%r}", choice);
}

void api_anthropic_request(struct str chat, struct buf *out)
{
	struct str limit = STR(MAX_TOKENS);
	struct json_member m;

	buf_clear(out);
	struct json_writer w = jw_begin(out);
	for (size_t cursor = 0; json_next_member(chat, &cursor, &m);) {
		if (api_is_limit(m.key)) {
			limit = m.value;
		} else if (str_is(m.key, "messages")) {
			put_system(&w, m.value);
			put_messages(&w, m.value);
		} else if (str_is(m.key, "tools")) {
			api_put_list(&w, "tools", m.value, put_tool);
		} else if (str_is(m.key, "tool_choice")) {
			put_choice(&w, m.value);
		} else if (str_is(m.key, "stop")) {
			jw_pack(&w,
			        json_type(m.value) == JSON_ARRAY ? "stop_sequences:%r"
			                                         : "stop_sequences:[%r]",
			        m.value);
		} else if (!str_is(m.key, "response_format")) { /* not supported */
			jw_key_spelled(&w, m.key);
			jw_raw(&w, m.value);
		}
	}
	jw_pack(&w, "max_tokens:%r}", limit);
}

/* ---- the reply ---- */

static const char *finish_of(struct str reason)
{
	return json_is(reason, STR("tool_use"))                        ? "tool_calls"
	       : json_is(reason, STR("max_tokens"))                    ? "length"
	       : json_is(reason, STR("model_context_window_exceeded")) ? "length"
	       : json_is(reason, STR("refusal"))                       ? "content_filter"
	                                                               : "stop";
}

/* The prompt's tokens are reported in three parts. */
static struct api_usage usage_of(struct str usage)
{
	struct api_usage u = {.prompt = 0};
	int64_t written = 0;

	u.known = json_i64(JSON_GET(usage, "output_tokens"), &u.completion);
	json_i64(JSON_GET(usage, "input_tokens"), &u.prompt);
	json_i64(JSON_GET(usage, "cache_read_input_tokens"), &u.cached);
	json_i64(JSON_GET(usage, "cache_creation_input_tokens"), &written);
	u.prompt += u.cached + written;
	return u;
}

static void add_block(struct chat_stream *s, int64_t index, struct str block, struct str input)
{
	struct chat_call_piece call = {index, JSON_GET(block, "id"), JSON_GET(block, "name"),
	                               input};

	if (api_is_type(block, "text"))
		chat_stream_text(&s->content, JSON_GET(block, "text"));
	else if (api_is_type(block, "thinking"))
		chat_stream_text(&s->reasoning, JSON_GET(block, "thinking"));
	else if (api_is_type(block, "tool_use"))
		chat_stream_call(s, &call);
}

bool api_anthropic_reply(struct str body, struct chat_stream *s)
{
	struct str content = JSON_GET(body, "content"), block;
	struct api_usage usage = usage_of(JSON_GET(body, "usage"));
	AUTO_BUF input = BUF(BUF_MAX_MESSAGE);
	int64_t index = 0;

	for (size_t cursor = 0; json_next(content, &cursor, &block); index++) {
		buf_clear(&input);
		json_quote(&input, JSON_GET(block, "input"));
		add_block(s, index, block, buf_view(&input));
	}
	chat_stream_raw(&s->model, JSON_GET(body, "model"));
	chat_stream_raw(&s->stop_reason, JSON_GET(body, "stop_sequence"));
	api_end(s, finish_of(JSON_GET(body, "stop_reason")), &usage);
	return json_type(content) == JSON_ARRAY;
}

/* ---- a stream ---- */

static void add_delta(struct chat_stream *s, int64_t index, struct str delta)
{
	struct chat_call_piece call = {.index = index,
	                               .arguments = JSON_GET(delta, "partial_json")};

	if (api_is_type(delta, "text_delta"))
		chat_stream_text(&s->content, JSON_GET(delta, "text"));
	else if (api_is_type(delta, "thinking_delta"))
		chat_stream_text(&s->reasoning, JSON_GET(delta, "thinking"));
	else if (api_is_type(delta, "input_json_delta") && call.arguments.p)
		chat_stream_call(s, &call);
}

void api_anthropic_event(struct str data, struct chat_stream *s)
{
	struct api_usage usage;
	int64_t index = 0;

	json_i64(JSON_GET(data, "index"), &index);
	if (api_is_type(data, "message_start")) {
		usage = usage_of(JSON_GET(JSON_GET(data, "message"), "usage"));
		s->prompt_tokens = usage.prompt;
		s->cached_tokens = usage.cached;
	} else if (api_is_type(data, "content_block_start")) {
		add_block(s, index, JSON_GET(data, "content_block"), STR("\"\""));
	} else if (api_is_type(data, "content_block_delta")) {
		add_delta(s, index, JSON_GET(data, "delta"));
	} else if (api_is_type(data, "message_delta")) {
		usage = usage_of(JSON_GET(data, "usage"));
		usage.prompt = usage.prompt ? usage.prompt : s->prompt_tokens;
		usage.cached = usage.cached ? usage.cached : s->cached_tokens;
		api_end(s, finish_of(JSON_GET(JSON_GET(data, "delta"), "stop_reason")), &usage);
	} else if (api_is_type(data, "error")) {
		buf_set(&s->failure, data);
	} else if (api_is_type(data, "message_stop")) {
		s->done = true;
	}
}
