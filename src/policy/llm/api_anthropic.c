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
	struct buf text = BUF(BUF_MAX_MESSAGE);
	bool object = json_type(arguments) == JSON_STRING && json_decode(arguments, &text) &&
	              json_is_valid(buf_view(&text)) && json_type(buf_view(&text)) == JSON_OBJECT;

	jw_pack(w, "{type:'tool_use',id:%?r,name:%?r,input:%r}", JSON_GET(call, "id"),
	        JSON_GET(function, "name"), object ? buf_view(&text) : STR("{}"));
	buf_release(&text);
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
	struct buf text = BUF(BUF_MAX_MESSAGE);
	struct str message;

	for (size_t cursor = 0; json_next(messages, &cursor, &message);) {
		if (json_is(JSON_GET(message, "role"), STR("system"))) {
			buf_text(&text, text.n ? "\n" : "");
			json_decode(JSON_GET(message, "content"), &text);
		}
	}
	if (text.n)
		jw_pack(w, "system:%s", buf_view(&text));
	buf_release(&text);
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

static void put_texts(struct json_writer *w, struct str content, const char *type, const char *key)
{
	struct buf text = BUF(BUF_MAX_MESSAGE);
	struct str block;
	bool any = false;

	for (size_t cursor = 0; json_next(content, &cursor, &block);) {
		if (api_is_type(block, type)) {
			json_decode(json_get(block, str_from(type)), &text);
			any = true;
		}
	}
	if (any)
		jw_put_str(w, key, buf_view(&text));
	buf_release(&text);
}

static void put_calls(struct json_writer *w, struct str content)
{
	struct buf arguments = BUF(BUF_MAX_MESSAGE);
	struct str block;

	jw_pack(w, "tool_calls:[");
	for (size_t cursor = 0; json_next(content, &cursor, &block);) {
		if (api_is_type(block, "tool_use")) {
			buf_clear(&arguments);
			json_quote(&arguments, JSON_GET(block, "input"));
			api_put_call(w, JSON_GET(block, "id"), JSON_GET(block, "name"),
			             buf_view(&arguments));
		}
	}
	jw_end(w);
	buf_release(&arguments);
}

bool api_anthropic_reply(struct str body, struct buf *out)
{
	struct str content = JSON_GET(body, "content"), stop = JSON_GET(body, "stop_sequence");
	struct api_usage usage = usage_of(JSON_GET(body, "usage"));

	buf_clear(out);
	struct json_writer w =
		jw_form(out, "{model:%?r,choices:[{message:{", JSON_GET(body, "model"));
	put_texts(&w, content, "text", "content");
	put_texts(&w, content, "thinking", "reasoning");
	put_calls(&w, content);
	jw_pack(&w, "},finish_reason:%t,stop_reason:%?r}]",
	        finish_of(JSON_GET(body, "stop_reason")), json_is_null(stop) ? STR_NONE : stop);
	api_put_usage(&w, &usage);
	jw_end(&w);
	return json_type(content) == JSON_ARRAY;
}

/* ---- a stream ---- */

static void put_delta(struct str data, struct buf *out)
{
	struct str delta = JSON_GET(data, "delta");
	struct api_call_piece c = {.arguments = JSON_GET(delta, "partial_json")};

	if (api_is_type(delta, "text_delta")) {
		api_chunk("content", JSON_GET(delta, "text"), out);
	} else if (api_is_type(delta, "thinking_delta")) {
		api_chunk("reasoning", JSON_GET(delta, "thinking"), out);
	} else if (api_is_type(delta, "input_json_delta") && c.arguments.p) {
		json_i64(JSON_GET(data, "index"), &c.index);
		api_chunk_call(&c, out);
	}
}

static void put_start(struct str data, struct buf *out)
{
	struct str block = JSON_GET(data, "content_block");
	struct api_call_piece c = {.id = JSON_GET(block, "id"),
	                           .name = JSON_GET(block, "name"),
	                           .arguments = STR("\"\"")};

	if (api_is_type(block, "tool_use")) {
		json_i64(JSON_GET(data, "index"), &c.index);
		api_chunk_call(&c, out);
	}
}

void api_anthropic_event(struct api_stream *s, struct str data, struct buf *out, bool *done)
{
	struct api_usage usage;

	buf_clear(out);
	if (api_is_type(data, "message_start")) {
		usage = usage_of(JSON_GET(JSON_GET(data, "message"), "usage"));
		s->prompt_tokens = usage.prompt;
		s->cached_tokens = usage.cached;
	} else if (api_is_type(data, "content_block_start")) {
		put_start(data, out);
	} else if (api_is_type(data, "content_block_delta")) {
		put_delta(data, out);
	} else if (api_is_type(data, "message_delta")) {
		usage = usage_of(JSON_GET(data, "usage"));
		usage.prompt = usage.prompt ? usage.prompt : s->prompt_tokens;
		usage.cached = usage.cached ? usage.cached : s->cached_tokens;
		api_chunk_end(finish_of(JSON_GET(JSON_GET(data, "delta"), "stop_reason")), &usage,
		              out);
	} else if (api_is_type(data, "error")) {
		buf_str(out, data);
	} else if (api_is_type(data, "message_stop")) {
		*done = true;
	}
}
