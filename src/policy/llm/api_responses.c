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

/* Appends all texts of that type in the part lists of all items of that type. */
static bool append_texts(struct str output, const char *item_type, const char *list,
                         const char *type, const char *key, struct buf *text)
{
	struct str item, part;
	bool any = false;

	for (size_t cursor = 0; json_next(output, &cursor, &item);) {
		if (!api_is_type(item, item_type))
			continue;
		for (size_t at = 0; json_next(json_get(item, str_from(list)), &at, &part);)
			if (api_is_type(part, type))
				any |= json_decode(json_get(part, str_from(key)), text);
	}
	return any;
}

static void put_text(struct json_writer *w, const char *key, bool any, struct buf *text)
{
	if (any)
		jw_put_str(w, key, buf_view(text));
	buf_clear(text);
}

static void put_texts(struct json_writer *w, struct str output)
{
	struct buf text = BUF(BUF_MAX_MESSAGE);

	put_text(w, "content",
	         append_texts(output, "message", "content", "output_text", "text", &text), &text);
	put_text(w, "refusal",
	         append_texts(output, "message", "content", "refusal", "refusal", &text), &text);
	bool summary = append_texts(output, "reasoning", "summary", "summary_text", "text", &text);
	bool thought =
		append_texts(output, "reasoning", "content", "reasoning_text", "text", &text);
	put_text(w, "reasoning", summary || thought, &text);
	buf_release(&text);
}

static void put_failure(struct str error, struct buf *out)
{
	buf_clear(out);
	json_pack(out, "{error:%r}", json_is_null(error) ? STR("\"the response failed\"") : error);
}

bool api_responses_reply(struct str body, struct buf *out)
{
	struct str output = JSON_GET(body, "output"), item;
	struct api_usage usage = usage_of(body);
	bool called = false;

	if (!json_is_null(JSON_GET(body, "error"))) {
		put_failure(JSON_GET(body, "error"), out);
		return true;
	}
	buf_clear(out);
	struct json_writer w =
		jw_form(out, "{model:%?r,choices:[{message:{", JSON_GET(body, "model"));
	put_texts(&w, output);
	jw_pack(&w, "tool_calls:[");
	for (size_t cursor = 0; json_next(output, &cursor, &item);) {
		if (api_is_type(item, "function_call")) {
			called = true;
			api_put_call(&w, JSON_GET(item, "call_id"), JSON_GET(item, "name"),
			             JSON_GET(item, "arguments"));
		}
	}
	jw_pack(&w, "]},finish_reason:%t}]", finish_of(body, called));
	api_put_usage(&w, &usage);
	jw_end(&w);
	return json_type(output) == JSON_ARRAY;
}

static bool has_calls(struct str response)
{
	struct str item;

	for (size_t cursor = 0; json_next(JSON_GET(response, "output"), &cursor, &item);)
		if (api_is_type(item, "function_call"))
			return true;
	return false;
}

static void put_call_piece(struct str data, struct str item, struct str arguments, struct buf *out)
{
	struct api_call_piece c = {.id = JSON_GET(item, "call_id"),
	                           .name = JSON_GET(item, "name"),
	                           .arguments = arguments};

	json_i64(JSON_GET(data, "output_index"), &c.index);
	api_chunk_call(&c, out);
}

/* The `response.*` events that contain text, and their members. */
static const struct {
	const char *type, *key;
} texts[] = {
	{"response.output_text.delta", "content"},
	{"response.refusal.delta", "refusal"},
	{"response.reasoning_text.delta", "reasoning"},
	{"response.reasoning_summary_text.delta", "reasoning"},
};

void api_responses_event(struct api_stream *s, struct str data, struct buf *out, bool *done)
{
	struct str item = JSON_GET(data, "item"), response = JSON_GET(data, "response");
	struct api_usage usage = usage_of(response);

	(void)s;
	buf_clear(out);
	for (size_t i = 0; i < ARRAY_LEN(texts); i++)
		if (api_is_type(data, texts[i].type))
			api_chunk(texts[i].key, JSON_GET(data, "delta"), out);
	if (api_is_type(data, "response.output_item.added") && api_is_type(item, "function_call")) {
		put_call_piece(data, item, STR("\"\""), out);
	} else if (api_is_type(data, "response.function_call_arguments.delta")) {
		put_call_piece(data, STR_NONE, JSON_GET(data, "delta"), out);
	} else if (api_is_type(data, "response.completed") ||
	           api_is_type(data, "response.incomplete")) {
		api_chunk_end(finish_of(response, has_calls(response)), &usage, out);
		*done = true;
	} else if (api_is_type(data, "response.failed")) {
		put_failure(JSON_GET(response, "error"), out);
	} else if (api_is_type(data, "error")) {
		put_failure(data, out);
	}
}
