/* The adapters of APIs other than chat completions: outgoing requests, incoming replies and
   events. */
#include "tap.h"

#include "json/canon.h"
#include "json/write.h"
#include "policy/llm/api.h"
#include "policy/llm/completion.h"

#define CHAT                                                                                       \
	"{\"model\":\"m\",\"tools\":[{\"type\":\"function\",\"function\":{\"name\":\"f\","         \
	"\"description\":\"F.\",\"parameters\":{\"type\":\"object\"}}}],\"tool_choice\":"          \
	"\"required\",\"max_tokens\":7,\"stop\":\"X\",\"messages\":["                              \
	"{\"role\":\"system\",\"content\":\"S\"},{\"role\":\"user\",\"content\":\"U\"},"           \
	"{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[{\"id\":\"c\",\"type\":"         \
	"\"function\",\"function\":{\"name\":\"f\",\"arguments\":\"{\\\"a\\\":1}\"}}]},"           \
	"{\"role\":\"tool\",\"tool_call_id\":\"c\",\"content\":\"R\"},"                            \
	"{\"role\":\"user\",\"content\":\"V\"}]}"

static const struct api *api_of(const char *name)
{
	size_t i = 0;

	while (strcmp(api_names[i], name) != 0)
		i++;
	return &apis[i];
}

static void same(const char *name, struct str got, const char *want, const char *what)
{
	struct buf a = BUF(BUF_MAX_MESSAGE), b = BUF(BUF_MAX_MESSAGE);
	struct json_fault fault;

	ok(json_validate(got, &fault) == 0, "%s: %s is JSON", name, what);
	json_canon(got, NULL, JSON_EDIT_DROP, &a);
	json_canon(str_from(want), NULL, JSON_EDIT_DROP, &b);
	is_str(buf_cstr(&a), buf_cstr(&b), "%s: %s", name, what);
	buf_release(&a);
	buf_release(&b);
}

static void requests(void)
{
	static const struct {
		const char *name, *body;
	} rows[] = {
		{"responses",
	         "{\"model\":\"m\",\"tools\":[{\"type\":\"function\",\"name\":\"f\",\"description\":"
	         "\"F.\",\"parameters\":{\"type\":\"object\"},\"strict\":false}],\"tool_choice\":"
	         "\"required\",\"max_output_tokens\":7,\"stop\":\"X\",\"store\":false,\"input\":["
	         "{\"role\":\"system\",\"content\":\"S\"},{\"role\":\"user\",\"content\":\"U\"},"
	         "{\"type\":\"function_call\",\"call_id\":\"c\",\"name\":\"f\",\"arguments\":"
	         "\"{\\\"a\\\":1}\"},{\"type\":\"function_call_output\",\"call_id\":\"c\","
	         "\"output\":\"R\"},{\"role\":\"user\",\"content\":\"V\"}]}"},
		{"anthropic",
	         "{\"model\":\"m\",\"tools\":[{\"name\":\"f\",\"description\":\"F.\","
	         "\"input_schema\":{\"type\":\"object\"}}],\"tool_choice\":{\"type\":\"any\"},"
	         "\"max_tokens\":7,\"stop_sequences\":[\"X\"],\"system\":\"S\",\"messages\":["
	         "{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"U\"}]},"
	         "{\"role\":\"assistant\",\"content\":[{\"type\":\"tool_use\",\"id\":\"c\","
	         "\"name\":\"f\",\"input\":{\"a\":1}}]},{\"role\":\"user\",\"content\":["
	         "{\"type\":\"tool_result\",\"tool_use_id\":\"c\",\"content\":\"R\"},"
	         "{\"type\":\"text\",\"text\":\"V\"}]}]}"},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct buf out = BUF(BUF_MAX_MESSAGE);

		api_of(rows[i].name)->request(STR(CHAT), &out);
		same(rows[i].name, buf_view(&out), rows[i].body, "a request");
		buf_release(&out);
	}
}

/* What was read of a reply. */
static void put_read(const struct chat_stream *s, struct buf *out)
{
	struct chat_reply reply;

	chat_stream_reply(s, true, &reply);
	struct json_writer w =
		jw_form(out, "{content:%?s,refusal:%?s,reasoning:%?s,finish:%?s,stop:%?r,usage:%?r",
	                reply.content, reply.refusal, reply.reasoning, reply.finish_reason,
	                reply.stop_reason, reply.usage);
	jw_pack(&w, "failure:%?r,calls:[", chat_stream_failure(s));
	for (size_t i = 0; i < reply.call_count; i++) {
		jw_pack(&w, "[%s,%s,%s]", reply.calls[i].id, reply.calls[i].name,
		        reply.calls[i].arguments);
	}
	jw_pack(&w, "]}");
	chat_reply_release(&reply);
}

static void replies(void)
{
	static const struct {
		const char *name, *body, *read; /* read NULL: not a reply */
	} rows[] = {
		{"responses",
	         "{\"output\":[{\"type\":\"message\",\"content\":[{\"type\":\"output_text\","
	         "\"text\":\"a\\\"b\"},{\"type\":\"refusal\",\"refusal\":\"no\"}]},{\"type\":"
	         "\"function_call\",\"call_id\":\"c\",\"name\":\"f\",\"arguments\":\"{}\"}],"
	         "\"usage\":{\"input_tokens\":3,\"output_tokens\":4}}",
	         "{\"content\":\"a\\\"b\",\"refusal\":\"no\",\"calls\":[[\"c\",\"f\",\"{}\"]],"
	         "\"finish\":\"tool_calls\",\"usage\":{\"prompt_tokens\":3,"
	         "\"completion_tokens\":4,\"total_tokens\":7}}"},
		{"responses",
	         "{\"output\":[{\"type\":\"reasoning\",\"summary\":[{\"type\":\"summary_text\","
	         "\"text\":\"s\"}]}],\"incomplete_details\":{\"reason\":\"content_filter\"}}",
	         "{\"reasoning\":\"s\",\"calls\":[],\"finish\":\"content_filter\"}"},
		{"responses", "{\"error\":{\"code\":\"server_error\"},\"output\":[]}",
	         "{\"failure\":{\"error\":{\"code\":\"server_error\"}},\"calls\":[]}"},
		{"responses", "{\"choices\":[]}", NULL},
		{"anthropic",
	         "{\"content\":[{\"type\":\"text\",\"text\":\"a\"},{\"type\":\"tool_use\",\"id\":"
	         "\"c\",\"name\":\"f\",\"input\":{\"a\":[1]}},{\"type\":\"tool_use\",\"id\":\"d\","
	         "\"name\":\"f\",\"input\":{}}],\"stop_reason\":\"stop_sequence\","
	         "\"stop_sequence\":\"X\"}",
	         "{\"content\":\"a\",\"calls\":[[\"c\",\"f\",\"{\\\"a\\\":[1]}\"],[\"d\",\"f\","
	         "\"{}\"]],\"finish\":\"stop\",\"stop\":\"X\"}"},
		{"anthropic",
	         "{\"content\":[{\"type\":\"thinking\",\"thinking\":\"t\"}],\"stop_reason\":"
	         "\"max_tokens\",\"stop_sequence\":null,\"usage\":{\"input_tokens\":1,"
	         "\"output_tokens\":2,\"cache_read_input_tokens\":4}}",
	         "{\"reasoning\":\"t\",\"calls\":[],\"finish\":\"length\",\"usage\":{"
	         "\"prompt_tokens\":5,\"completion_tokens\":2,\"total_tokens\":7,"
	         "\"prompt_tokens_details\":{\"cached_tokens\":4}}}"},
		{"anthropic", "[]", NULL},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct buf out = BUF(BUF_MAX_MESSAGE);
		struct chat_stream s;

		chat_stream_init(&s);
		bool is_one = api_of(rows[i].name)->reply(str_from(rows[i].body), &s);
		ok(is_one == (rows[i].read != NULL), "%s: reply %zu", rows[i].name, i);
		put_read(&s, &out);
		if (rows[i].read)
			same(rows[i].name, buf_view(&out), rows[i].read, "a reply");
		chat_stream_release(&s);
		buf_release(&out);
	}
}

/* Two calls with interleaved chunks, usage in two places, an unknown event. */
static void stream(void)
{
	static const char *const events[] = {
		"{\"type\":\"message_start\",\"message\":{\"usage\":{\"input_tokens\":5,"
		"\"output_tokens\":1}}}",
		"{\"type\":\"ping\"}",
		"{\"type\":\"content_block_start\",\"index\":1,\"content_block\":{\"type\":"
		"\"tool_use\",\"id\":\"c1\",\"name\":\"f\",\"input\":{}}}",
		"{\"type\":\"content_block_start\",\"index\":2,\"content_block\":{\"type\":"
		"\"tool_use\",\"id\":\"c2\",\"name\":\"g\",\"input\":{}}}",
		"{\"type\":\"content_block_delta\",\"index\":1,\"delta\":{\"type\":"
		"\"input_json_delta\",\"partial_json\":\"{\\\"a\\\"\"}}",
		"{\"type\":\"content_block_delta\",\"index\":2,\"delta\":{\"type\":"
		"\"input_json_delta\",\"partial_json\":\"{}\"}}",
		"{\"type\":\"content_block_delta\",\"index\":1,\"delta\":{\"type\":"
		"\"input_json_delta\",\"partial_json\":\":1}\"}}",
		"{\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"tool_use\"},\"usage\":{"
		"\"output_tokens\":9}}",
		"{\"type\":\"message_stop\"}",
	};
	struct chat_stream s;
	struct chat_reply reply;
	struct error err;

	chat_stream_init(&s);
	for (size_t i = 0; i < ARRAY_LEN(events); i++) {
		ok(!s.done, "event %zu is before the end", i);
		api_of("anthropic")->event(str_from(events[i]), &s);
	}
	ok(s.done && chat_stream_check(&s, &err) == 0, "all events are accepted");
	chat_stream_reply(&s, true, &reply);
	ok(reply.call_count == 2 && str_is(reply.calls[0].arguments, "{\"a\":1}") &&
	           str_is(reply.calls[1].arguments, "{}") && str_is(reply.calls[1].name, "g"),
	   "two calls");
	ok(str_is(reply.finish_reason, "tool_calls"), "the finish reason");
	is_str(reply.usage.p, "{\"prompt_tokens\":5,\"completion_tokens\":9,\"total_tokens\":14}",
	       "the usage");
	chat_reply_release(&reply);
	chat_stream_release(&s);
}

int main(void)
{
	requests();
	replies();
	stream();
	ok(!api_accepts(api_of("anthropic"), "seed") && api_accepts(api_of("chat"), "seed") &&
	           api_accepts(api_of("responses"), "top_p"),
	   "parameters that an API does not know");
	return done();
}
