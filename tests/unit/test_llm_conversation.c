/* A conversation as it is sent, and tool results as text. */
#include "tap.h"

#include "policy/llm/conversation.h"
#include "policy/toolformats/reader.h"

static void users_in_a_row_are_one(void)
{
	struct conversation c;

	conversation_init(&c);
	conversation_add_text(&c, "system", STR("S"));
	conversation_add_text(&c, "user", STR("U"));
	conversation_add(&c, STR("{\"role\":\"assistant\",\"content\":\"two calls\"}"));
	conversation_add_text(&c, "user", STR("one \"1\""));
	conversation_add_text(&c, "user", STR("two"));
	is_str(buf_cstr(&c.history.sent),
	       "{\"role\":\"system\",\"content\":\"S\"},{\"role\":\"user\",\"content\":\"U\"},"
	       "{\"role\":\"assistant\",\"content\":\"two calls\"},"
	       "{\"role\":\"user\",\"content\":\"one \\\"1\\\"\\ntwo\"}",
	       "results of two calls are sent as one message");
	is_str(buf_cstr(&c.messages),
	       "{\"role\":\"system\",\"content\":\"S\"},{\"role\":\"user\",\"content\":\"U\"},"
	       "{\"role\":\"assistant\",\"content\":\"two calls\"},"
	       "{\"role\":\"user\",\"content\":\"one \\\"1\\\"\"},"
	       "{\"role\":\"user\",\"content\":\"two\"}",
	       "and stay two in the recording");
	conversation_add(&c, STR("{\"role\":\"assistant\",\"content\":null}"));
	conversation_add_result(&c, STR("a"), STR("go"), STR("x"));
	conversation_add_result(&c, STR("b"), STR_NONE, STR("y"));
	ok(strstr(buf_cstr(&c.history.sent), "\"content\":\"x\"},{\"role\":\"tool\"") != NULL,
	   "each native call has its own reply");
	conversation_release(&c);
}

#define CALL(id)                                                                                   \
	"{\"id\":\"" id                                                                            \
	"\",\"type\":\"function\",\"function\":{\"name\":\"f\",\"arguments\":\"{}\"}}"

static void forms(void)
{
	static const struct {
		const char *sentence;
		enum history_form form;
	} sentences[] = {
		{"System role not supported", HISTORY_SYSTEM_AS_USER},
		{"Conversation roles must alternate user/assistant/..", HISTORY_SYSTEM_AS_USER},
		{"This model only supports single tool-calls at once!", HISTORY_SINGLE_CALLS},
		{"messages with role 'tool' must be a response to a preceding message with "
	         "'tool_calls'.",
	         HISTORY_RESULTS_AS_USER},
		{"Message has tool role, but there was no previous assistant message with a tool "
	         "call!",
	         HISTORY_RESULTS_AS_USER},
		{"The model is overloaded", HISTORY_USUAL},
	};
	struct conversation c;

	conversation_init(&c);
	for (size_t i = 0; i < ARRAY_LEN(sentences); i++) {
		ok(chat_history_wanted(&c.history, str_from(sentences[i].sentence)) ==
		           sentences[i].form,
		   "%s: %s", sentences[i].sentence, chat_history_form_name(sentences[i].form));
	}
	conversation_add_text(&c, "system", STR("S"));
	conversation_add_text(&c, "user", STR("U"));
	conversation_add(&c,
	                 STR("{\"role\":\"assistant\",\"content\":\"both\",\"tool_calls\":[" CALL(
				 "a") "," CALL("b") "]}"));
	conversation_add_result(&c, STR("a"), STR_NONE, STR("x"));
	conversation_add_result(&c, STR("b"), STR_NONE, STR("y"));
	struct buf before = BUF(BUF_MAX_SMALL);
	buf_str(&before, buf_view(&c.messages));

	chat_history_reform(&c.history, HISTORY_SYSTEM_AS_USER, buf_view(&c.messages));
	ok(str_starts(buf_view(&c.history.sent),
	              STR("{\"role\":\"user\",\"content\":\"S\\nU\"},{\"role\":\"assistant\"")),
	   "the system's text begins the user's");
	chat_history_reform(&c.history, HISTORY_SINGLE_CALLS, buf_view(&c.messages));
	is_str(buf_cstr(&c.history.sent),
	       "{\"role\":\"user\",\"content\":\"S\\nU\"},"
	       "{\"role\":\"assistant\",\"content\":\"both\",\"tool_calls\":[" CALL(
		       "a") "]},"
	                    "{\"role\":\"tool\",\"tool_call_id\":\"a\",\"content\":\"x\"},"
	                    "{\"role\":\"assistant\",\"content\":\"\",\"tool_calls\":[" CALL(
				    "b") "]},"
	                                 "{\"role\":\"tool\",\"tool_call_id\":\"b\",\"content\":\"y\"}",
	       "each call before its result");
	ok(chat_history_wanted(&c.history, STR("System role not supported")) == HISTORY_USUAL,
	   "a form that did not help is not tried twice");
	is_str(buf_cstr(&c.messages), buf_cstr(&before),
	       "the recording keeps the original messages");
	buf_release(&before);
	conversation_release(&c);
}

/* 2 KiB of base64, and of letters that are not base64. */
static void base64(void)
{
	struct buf json = BUF(BUF_MAX_MESSAGE), out = BUF(BUF_MAX_MESSAGE);

	buf_text(&json, "{\"screen\":\"data:image/png;base64,");
	for (int i = 0; i < 512; i++)
		buf_text(&json, "aZ9/");
	buf_text(&json, "==\",\"at\":4}");
	tool_result_text(buf_view(&json), &out);
	is_str(buf_cstr(&out),
	       "{\"screen\":\"data:image/png;base64,[base64, 1536 bytes]\",\"at\":4}",
	       "a picture in a member");
	buf_clear(&json);
	buf_clear(&out);
	buf_char(&json, '"');
	for (int i = 0; i < 512; i++)
		buf_text(&json, "ACGT");
	buf_char(&json, '"');
	tool_result_text(buf_view(&json), &out);
	ok(out.n == 2048, "a gene is text");
	buf_release(&json);
	buf_release(&out);
}

static void answers(void)
{
	static const struct {
		const char *observation, *text;
	} cases[] = {
		{"\"moved\"", "moved"},
		{"null", ""},
		{"{\"at\":4}", "{\"at\":4}"},
		{"[1,2]", "[1,2]"},
		{"[{\"type\":\"text\",\"text\":\"a\"},{\"type\":\"text\",\"text\":\"b\"}]", "a\nb"},
		{"[{\"type\":\"text\",\"text\":\"seen:\"},{\"type\":\"image\",\"data\":\"QUJDREVG\","
	         "\"mimeType\":\"image/png\"}]",
	         "seen:\n[image image/png, 6 bytes]"},
		{"[{\"type\":\"audio\",\"data\":\"QUJD\",\"mimeType\":\"audio/wav\"}]",
	         "[audio audio/wav, 3 bytes]"},
		{"[{\"type\":\"resource\",\"resource\":{\"uri\":\"file:///a\",\"text\":\"inside\"}}]",
	         "inside"},
		{"[{\"type\":\"resource\",\"resource\":{\"uri\":\"file:///a\",\"blob\":\"QUJD\"}}]",
	         "[resource file:///a, 3 bytes]"},
		{"[{\"type\":\"resource_link\",\"uri\":\"file:///b\"}]",
	         "[resource_link file:///b]"},
		{"[{\"type\":\"image_url\",\"image_url\":{\"url\":\"data:,xyz\"}}]",
	         "[image_url, 9 bytes of URL]"},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct buf out = BUF(BUF_MAX_SMALL);

		tool_result_text(str_from(cases[i].observation), &out);
		is_str(buf_cstr(&out), cases[i].text, "%s", cases[i].observation);
		buf_release(&out);
	}
}

static void results(void)
{
	static const struct {
		const char *format, *text;
	} cases[] = {
		{NULL, "<tool_response>\nok\n</tool_response>"},
		{"hermes", "<tool_response>\nok\n</tool_response>"},
		{"invoke", "<response>ok</response>"},
		{"gemma4", "<|tool_response>response:f{value:<|\"|>ok<|\"|>}<tool_response|>"},
		{"function-gemma", "<start_function_response>response:f{value:<escape>ok<escape>}"
	                           "<end_function_response>"},
		{"toolcall", "<TOOL_RESPONSE>[ok]</TOOL_RESPONSE>"},
		{"kimi", "## Return of c:0\nok"},
		{"mistral", "[TOOL_RESULTS] {\"content\": ok}[/TOOL_RESULTS]"},
		{"cohere", "<|START_TOOL_RESULT|>[{\"tool_call_id\": \"c:0\", \"results\": "
	                   "{\"0\": \"ok\"}, \"is_error\": null}]<|END_TOOL_RESULT|>"},
		{"deepseek", "<\xef\xbd\x9ctool\xe2\x96\x81output\xe2\x96\x81"
	                     "begin\xef\xbd\x9c>ok<\xef\xbd\x9ctool\xe2\x96\x81output"
	                     "\xe2\x96\x81"
	                     "end\xef\xbd\x9c>"},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct buf out = BUF(BUF_MAX_SMALL);

		tool_format_result(cases[i].format, STR("c:0"), STR("f"), STR("ok"), &out);
		is_str(buf_cstr(&out), cases[i].text, "a result for %s",
		       cases[i].format ? cases[i].format : "any");
		buf_release(&out);
	}
}

/* A call as text, with its result in a message of role tool, which not every server
   accepts. */
static void results_by_role(void)
{
	static const char *const with[] = {"llama",     "granite",  "glm",      "functionary",
	                                   "gigachat3", "pythonic", "command-r"};
	static const char *const without[] = {NULL,   "hermes", "harmony", "invoke",
	                                      "json", "kimi",   "mistral"};
	struct conversation c;

	for (size_t i = 0; i < ARRAY_LEN(with); i++) {
		ok(tool_format_has_role(with[i]), "%s: a role of its own", with[i]);
		ok(!tool_format_has_role(without[i]), "%s: none",
		   without[i] ? without[i] : "any format");
	}
	conversation_init(&c);
	conversation_add(&c, STR("{\"role\":\"assistant\",\"content\":\"<|python_tag|>..\"}"));
	conversation_add_result(&c, STR("a"), STR("f"), STR("x \"1\""));
	conversation_add_result(&c, STR("b"), STR("f"), STR("y"));
	conversation_add(&c, STR("{\"role\":\"assistant\",\"tool_calls\":[" CALL("c") "]}"));
	conversation_add_result(&c, STR("c"), STR_NONE, STR("z"));
	is_str(buf_cstr(&c.history.sent), buf_cstr(&c.messages), "sent as it is");
	chat_history_reform(&c.history, HISTORY_RESULTS_AS_USER, buf_view(&c.messages));
	is_str(buf_cstr(&c.history.sent),
	       "{\"role\":\"assistant\",\"content\":\"<|python_tag|>..\"},"
	       "{\"role\":\"user\",\"content\":\"<tool_response>\\nx \\\"1\\\"\\n"
	       "</tool_response>\\n<tool_response>\\ny\\n</tool_response>\"},"
	       "{\"role\":\"assistant\",\"tool_calls\":[" CALL(
		       "c") "]},"
	                    "{\"role\":\"tool\",\"tool_call_id\":\"c\",\"content\":\"z\"}",
	       "results without tool_calls before them become the user's, others do not");
	conversation_release(&c);
}

int main(void)
{
	users_in_a_row_are_one();
	forms();
	base64();
	answers();
	results();
	results_by_role();
	return done();
}
