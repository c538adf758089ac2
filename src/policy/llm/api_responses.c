/* OpenAI's Responses API: a conversation is a list of items, which include calls and their
   outputs. Field names as in the official client (openai-python, types/responses). */
#include "policy/llm/api_internal.h"

static void put_call(struct json_writer *w, struct str call)
{
	struct str function = JSON_GET(call, "function");

	jw_pack(w, "{type:'function_call',call_id:%?r,name:%?r,arguments:%?r}",
	        JSON_GET(call, "id"), JSON_GET(function, "name"), JSON_GET(function, "arguments"));
}

static void put_item(struct json_writer *w, struct str message)
{
	struct str role = JSON_GET(message, "role"), content = JSON_GET(message, "content"), call;

	if (json_is(role, STR("tool"))) {
		jw_pack(w, "{type:'function_call_output',call_id:%?r,output:%?r}",
		        JSON_GET(message, "tool_call_id"), content);
		return;
	}
	if (!json_is_null(content) && !json_is(content, STR("")))
		jw_pack(w, "{role:%r,content:%r}", role, content);
	for (size_t cursor = 0; json_next(JSON_GET(message, "tool_calls"), &cursor, &call);)
		put_call(w, call);
}

static void put_tool(struct json_writer *w, struct str tool)
{
	struct str function = JSON_GET(tool, "function");

	jw_pack(w, "{type:'function',name:%?r,description:%?r,parameters:%?r,strict:false}",
	        JSON_GET(function, "name"), JSON_GET(function, "description"),
	        JSON_GET(function, "parameters"));
}

static void put_choice(struct json_writer *w, struct str choice)
{
	struct str name = JSON_GET(JSON_GET(choice, "function"), "name");

	jw_pack(w, name.p ? "tool_choice:{type:'function',name:%r}" : "tool_choice:%r",
	        name.p ? name : choice);
}

static void put_format(struct json_writer *w, struct str format)
{
	struct str schema = JSON_GET(format, "json_schema");

	jw_pack(w, "text:{format:{type:%?r,name:%?r,schema:%?r}}", JSON_GET(format, "type"),
	        JSON_GET(schema, "name"), JSON_GET(schema, "schema"));
}

static void put_member(struct json_writer *w, const struct json_member *m)
{
	if (str_is(m->key, "messages")) {
		api_put_list(w, "input", m->value, put_item);
	} else if (str_is(m->key, "tools")) {
		api_put_list(w, "tools", m->value, put_tool);
	} else if (str_is(m->key, "tool_choice")) {
		put_choice(w, m->value);
	} else if (api_is_limit(m->key)) {
		jw_pack(w, "max_output_tokens:%r", m->value);
	} else if (str_is(m->key, "response_format")) {
		put_format(w, m->value);
	} else if (str_is(m->key, "reasoning_effort")) {
		jw_pack(w, "reasoning:{effort:%r}", m->value);
	} else {
		jw_key_spelled(w, m->key);
		jw_raw(w, m->value);
	}
}

void api_responses_request(struct str chat, struct buf *out)
{
	struct json_member m;

	buf_clear(out);
	struct json_writer w = jw_begin(out);
	for (size_t cursor = 0; json_next_member(chat, &cursor, &m);)
		put_member(&w, &m);
	if (!JSON_GET(chat, "store").p)
		jw_pack(&w, "store:false"); /* each request has the whole conversation */
	jw_end(&w);
}

static struct api_usage usage_of(struct str response)
{
	struct str usage = JSON_GET(response, "usage");
	struct api_usage u = {.prompt = 0};

	u.known = json_i64(JSON_GET(usage, "input_tokens"), &u.prompt) &&
	          json_i64(JSON_GET(usage, "output_tokens"), &u.completion);
	json_i64(JSON_GET(JSON_GET(usage, "input_tokens_details"), "cached_tokens"), &u.cached);
	return u;
}

static const char *finish_of(struct str response, bool called)
{
	struct str why = JSON_GET(JSON_GET(response, "incomplete_details"), "reason");

	return json_is(why, STR("content_filter")) ? "content_filter"
	       : json_type(why) == JSON_STRING     ? "length"
	       : called                            ? "tool_calls"
	                                           : "stop";
}

/* Parts of that type in a list of parts. */
static void add_parts(struct buf *part, struct str list, const char *type, const char *key)
{
	struct str each;

	for (size_t cursor = 0; json_next(list, &cursor, &each);)
		if (api_is_type(each, type))
			chat_stream_text(part, json_get(each, str_from(key)));
}

static void add_call(struct chat_stream *s, int64_t index, struct str item, struct str arguments)
{
	struct chat_call_piece call = {index, JSON_GET(item, "call_id"), JSON_GET(item, "name"),
	                               arguments};

	chat_stream_call(s, &call);
}

static void add_item(struct chat_stream *s, int64_t index, struct str item)
{
	struct str content = JSON_GET(item, "content");

	if (api_is_type(item, "function_call")) {
		add_call(s, index, item, JSON_GET(item, "arguments"));
	} else if (api_is_type(item, "message")) {
		add_parts(&s->content, content, "output_text", "text");
		add_parts(&s->refusal, content, "refusal", "refusal");
	} else if (api_is_type(item, "reasoning")) {
		add_parts(&s->reasoning, JSON_GET(item, "summary"), "summary_text", "text");
		add_parts(&s->reasoning, content, "reasoning_text", "text");
	}
}

static void set_failure(struct chat_stream *s, struct str error)
{
	buf_clear(&s->failure);
	json_pack(&s->failure, "{error:%r}",
	          json_is_null(error) ? STR("\"the response failed\"") : error);
}

bool api_responses_reply(struct str body, struct chat_stream *s)
{
	struct str output = JSON_GET(body, "output"), item;
	struct api_usage usage = usage_of(body);
	int64_t index = 0;

	if (!json_is_null(JSON_GET(body, "error"))) {
		set_failure(s, JSON_GET(body, "error"));
		return true;
	}
	for (size_t cursor = 0; json_next(output, &cursor, &item); index++)
		add_item(s, index, item);
	chat_stream_raw(&s->model, JSON_GET(body, "model"));
	api_end(s, finish_of(body, s->call_count > 0), &usage);
	return json_type(output) == JSON_ARRAY;
}

void api_responses_event(struct str data, struct chat_stream *s)
{
	/* the `response.*` events that contain text, and what it is part of */
	const struct {
		const char *type;
		struct buf *part;
	} texts[] = {
		{"response.output_text.delta", &s->content},
		{"response.refusal.delta", &s->refusal},
		{"response.reasoning_text.delta", &s->reasoning},
		{"response.reasoning_summary_text.delta", &s->reasoning},
	};
	struct str item = JSON_GET(data, "item"), response = JSON_GET(data, "response");
	struct api_usage usage = usage_of(response);
	int64_t index = 0;

	json_i64(JSON_GET(data, "output_index"), &index);
	for (size_t i = 0; i < ARRAY_LEN(texts); i++)
		if (api_is_type(data, texts[i].type))
			chat_stream_text(texts[i].part, JSON_GET(data, "delta"));
	if (api_is_type(data, "response.output_item.added") && api_is_type(item, "function_call")) {
		add_call(s, index, item, STR("\"\""));
	} else if (api_is_type(data, "response.function_call_arguments.delta")) {
		add_call(s, index, STR_NONE, JSON_GET(data, "delta"));
	} else if (api_is_type(data, "response.completed") ||
	           api_is_type(data, "response.incomplete")) {
		api_end(s, finish_of(response, s->call_count > 0), &usage);
		s->done = true;
	} else if (api_is_type(data, "response.failed")) {
		set_failure(s, JSON_GET(response, "error"));
	} else if (api_is_type(data, "error")) {
		set_failure(s, data);
	}
}
