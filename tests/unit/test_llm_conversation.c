/* A conversation as it is sent, and what tools returned as text. */
#include "tap.h"

#include "policy/llm/answer.h"
#include "policy/llm/conversation.h"
#include "policy/toolformats/reader.h"

static void users_in_a_row_are_one(void)
{
	struct conversation c;

	conversation_init(&c);
	conversation_say(&c, "system", STR("S"));
	conversation_say(&c, "user", STR("U"));
	conversation_add(&c, STR("{\"role\":\"assistant\",\"content\":\"two calls\"}"));
	conversation_say(&c, "user", STR("one \"1\""));
	conversation_say(&c, "user", STR("two"));
	is_str(buf_cstr(&c.sent),
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
	conversation_answer(&c, STR("a"), STR("x"));
	conversation_answer(&c, STR("b"), STR("y"));
	ok(strstr(buf_cstr(&c.sent), "\"content\":\"x\"},{\"role\":\"tool\"") != NULL,
	   "each native call has its own answer");
	conversation_release(&c);
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

		answer_text(str_from(cases[i].observation), &out);
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
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct buf out = BUF(BUF_MAX_SMALL);

		tool_format_result(cases[i].format, STR("f"), STR("ok"), &out);
		is_str(buf_cstr(&out), cases[i].text, "a result for %s",
		       cases[i].format ? cases[i].format : "any");
		buf_release(&out);
	}
}

int main(void)
{
	users_in_a_row_are_one();
	answers();
	results();
	return done();
}
