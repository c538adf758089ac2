/* Replies of the Responses API, whole or as the events that the official clients expect. */
#include "serve/llm/body_apis.h"

#include <stdio.h>

void llm_put_id(struct json_writer *w, const char *prefix, uint64_t number)
{
	char id[48];

	snprintf(id, sizeof(id), "%s%llu", prefix, (unsigned long long)number);
	jw_text(w, id);
}

/* ---- the items of a reply ---- */

struct output_item {
	struct str text; /* text of a message, a raw JSON string; absent: a call */
	struct str call;
	uint64_t number; /* of the request */
	size_t at;       /* index in the output */
};

static struct str text_of(const struct llm_reply *r)
{
	return r->message.p ? JSON_GET(r->message, "content") : r->text;
}

static bool next_item(const struct llm_reply *r, size_t *cursor, struct output_item *out)
{
	struct str calls = r->message.p ? JSON_GET(r->message, "tool_calls") : r->calls;
	bool first = out->at == 0 && !out->text.p && !out->call.p;

	out->at += !first;
	out->text = first ? text_of(r) : STR_NONE;
	if (json_type(out->text) == JSON_STRING) {
		return true;
	}
	out->text = STR_NONE;
	return json_next(calls, cursor, &out->call);
}

static void put_item_id(struct json_writer *w, const struct output_item *i)
{
	char id[64];

	snprintf(id, sizeof(id), "%s_%llu_%zu", i->text.p ? "msg" : "fc",
	         (unsigned long long)i->number, i->at);
	jw_text(w, id);
}

static void put_part(struct json_writer *w, struct str text)
{
	jw_object(w);
	jw_key(w, "type");
	jw_text(w, "output_text");
	jw_key(w, "text");
	jw_raw(w, text);
	jw_key(w, "annotations");
	jw_raw(w, STR("[]"));
	jw_key(w, "logprobs");
	jw_raw(w, STR("[]"));
	jw_end(w);
}

static void put_arguments(struct json_writer *w, struct str function)
{
	struct str arguments = JSON_GET(function, "arguments");

	if (json_type(arguments) == JSON_STRING) {
		jw_raw(w, arguments);
	} else {
		jw_str(w, arguments.p ? arguments : STR("{}"));
	}
}

/* The function of a call, given by `calls` or by `message`. */
static struct str function_of(const struct output_item *i)
{
	struct str function = JSON_GET(i->call, "function");

	return function.p ? function : i->call;
}

static void put_item(struct json_writer *w, const struct output_item *i, bool begun)
{
	struct str function = function_of(i), id = JSON_GET(i->call, "id");

	jw_object(w);
	jw_key(w, "id");
	put_item_id(w, i);
	jw_key(w, "type");
	jw_text(w, i->text.p ? "message" : "function_call");
	jw_key(w, "status");
	jw_text(w, begun ? "in_progress" : "completed");
	if (i->text.p) {
		jw_key(w, "role");
		jw_text(w, "assistant");
		jw_key(w, "content");
		jw_array(w);
		if (!begun) {
			put_part(w, i->text);
		}
		jw_end(w);
	} else {
		jw_key(w, "call_id");
		if (id.p) {
			jw_raw(w, id);
		} else {
			llm_put_id(w, "call_", i->number * 1000 + i->at);
		}
		jw_key(w, "name");
		jw_raw(w, JSON_GET(function, "name"));
		jw_key(w, "arguments");
		if (begun) {
			jw_text(w, "");
		} else {
			put_arguments(w, function);
		}
	}
	jw_end(w);
}

/* ---- the response ---- */

static void put_count(struct json_writer *w, const char *key, struct str raw)
{
	jw_key(w, key);
	jw_raw(w, json_is_null(raw) ? STR("0") : raw);
}

static void put_usage(struct json_writer *w, struct str usage)
{
	jw_key(w, "usage");
	if (json_type(usage) != JSON_OBJECT) {
		jw_null(w);
		return;
	}
	jw_object(w);
	put_count(w, "input_tokens", JSON_GET(usage, "prompt_tokens"));
	jw_key(w, "input_tokens_details");
	jw_object(w);
	put_count(w, "cached_tokens",
	          JSON_GET(JSON_GET(usage, "prompt_tokens_details"), "cached_tokens"));
	jw_end(w);
	put_count(w, "output_tokens", JSON_GET(usage, "completion_tokens"));
	jw_key(w, "output_tokens_details");
	jw_object(w);
	put_count(w, "reasoning_tokens",
	          JSON_GET(JSON_GET(usage, "completion_tokens_details"), "reasoning_tokens"));
	jw_end(w);
	put_count(w, "total_tokens", JSON_GET(usage, "total_tokens"));
	jw_end(w);
}

static const char *incomplete(const struct llm_reply *r)
{
	return json_is(r->finish_reason, STR("length"))           ? "max_output_tokens"
	       : json_is(r->finish_reason, STR("content_filter")) ? "content_filter"
	                                                          : NULL;
}

static void put_response(struct json_writer *w, const struct llm_reply *r,
                         const struct scripted_request *a, uint64_t number, bool begun)
{
	struct output_item i = {.number = number};
	const char *why = begun ? NULL : incomplete(r);
	size_t cursor = 0;

	jw_object(w);
	jw_key(w, "id");
	llm_put_id(w, "resp_", number);
	jw_key(w, "object");
	jw_text(w, "response");
	jw_key(w, "created_at");
	jw_i64(w, 0);
	jw_key(w, "status");
	jw_text(w, begun ? "in_progress" : why ? "incomplete" : "completed");
	jw_key(w, "incomplete_details");
	if (why) {
		jw_object(w);
		jw_key(w, "reason");
		jw_text(w, why);
		jw_end(w);
	} else {
		jw_null(w);
	}
	jw_key(w, "model");
	jw_str(w, a->model);
	jw_key(w, "output");
	jw_array(w);
	while (!begun && next_item(r, &cursor, &i)) {
		put_item(w, &i, false);
	}
	jw_end(w);
	jw_key(w, "tools");
	jw_raw(w, a->tools.p ? a->tools : STR("[]"));
	jw_key(w, "tool_choice");
	jw_raw(w, a->tool_choice.p ? a->tool_choice : STR("\"auto\""));
	put_usage(w, begun ? STR_NONE : r->usage);
	jw_key(w, "error");
	jw_null(w);
	jw_key(w, "instructions");
	jw_null(w);
	jw_key(w, "metadata");
	jw_raw(w, STR("{}"));
	jw_key(w, "parallel_tool_calls");
	jw_bool(w, true);
	jw_key(w, "temperature");
	jw_i64(w, 1);
	jw_key(w, "top_p");
	jw_i64(w, 1);
	jw_end(w);
}

void llm_response_whole(const struct llm_reply *r, const struct scripted_request *a,
                        uint64_t number, struct buf *out)
{
	struct json_writer w;

	jw_init(&w, out);
	put_response(&w, r, a, number, false);
}

/* ---- events ---- */

struct events {
	struct buf *out;
	struct json_writer w;
	int64_t sequence;
};

static struct json_writer *begin(struct events *e, const char *type)
{
	buf_printf(e->out, "event: %s\ndata: ", type);
	jw_init(&e->w, e->out);
	jw_object(&e->w);
	jw_key(&e->w, "type");
	jw_text(&e->w, type);
	jw_key(&e->w, "sequence_number");
	jw_i64(&e->w, e->sequence++);
	return &e->w;
}

static void end(struct events *e)
{
	jw_end(&e->w);
	buf_text(e->out, "\n\n");
}

/* Begins an event about an item. */
static struct json_writer *begin_about(struct events *e, const char *type,
                                       const struct output_item *i, bool of_part)
{
	struct json_writer *w = begin(e, type);

	jw_key(w, "item_id");
	put_item_id(w, i);
	jw_key(w, "output_index");
	jw_u64(w, i->at);
	if (of_part) {
		jw_key(w, "content_index");
		jw_i64(w, 0);
	}
	return w;
}

static void send_item(struct events *e, const char *type, const struct output_item *i, bool begun)
{
	struct json_writer *w = begin(e, type);

	jw_key(w, "output_index");
	jw_u64(w, i->at);
	jw_key(w, "item");
	put_item(w, i, begun);
	end(e);
}

static void send_part(struct events *e, const char *type, const struct output_item *i,
                      struct str text)
{
	struct json_writer *w = begin_about(e, type, i, true);

	jw_key(w, "part");
	put_part(w, text);
	end(e);
}

static void send_text(struct events *e, const char *type, const struct output_item *i,
                      const char *key)
{
	struct json_writer *w = begin_about(e, type, i, true);

	jw_key(w, key);
	jw_raw(w, i->text);
	jw_key(w, "logprobs");
	jw_raw(w, STR("[]"));
	end(e);
}

static void send_arguments(struct events *e, const char *type, const struct output_item *i,
                           const char *key)
{
	struct json_writer *w = begin_about(e, type, i, false);

	jw_key(w, key);
	put_arguments(w, function_of(i));
	jw_key(w, "name");
	jw_raw(w, JSON_GET(function_of(i), "name"));
	end(e);
}

void llm_response_stream(const struct llm_reply *r, const struct scripted_request *a,
                         uint64_t number, struct buf *out)
{
	struct events e = {.out = out};
	struct output_item i = {.number = number};
	size_t cursor = 0;

	jw_key(begin(&e, "response.created"), "response");
	put_response(&e.w, r, a, number, true);
	end(&e);
	while (next_item(r, &cursor, &i)) {
		send_item(&e, "response.output_item.added", &i, true);
		if (i.text.p) {
			send_part(&e, "response.content_part.added", &i, STR("\"\""));
			send_text(&e, "response.output_text.delta", &i, "delta");
			send_text(&e, "response.output_text.done", &i, "text");
			send_part(&e, "response.content_part.done", &i, i.text);
		} else {
			send_arguments(&e, "response.function_call_arguments.delta", &i, "delta");
			send_arguments(&e, "response.function_call_arguments.done", &i,
			               "arguments");
		}
		send_item(&e, "response.output_item.done", &i, false);
	}
	jw_key(begin(&e, incomplete(r) ? "response.incomplete" : "response.completed"), "response");
	put_response(&e.w, r, a, number, false);
	end(&e);
}
