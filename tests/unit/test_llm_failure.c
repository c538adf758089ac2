/* Errors of model servers: the context size in the messages of several servers. */
#include "policy/llm/model_failure.h"
#include "tap.h"

static void context(const char *name, const char *body, uint64_t limit, uint64_t prompt)
{
	struct chat_failure f;

	chat_failure_init(&f);
	chat_failure_from_reply(&f, 400, STR("application/json"), str_from(body));
	is_str(chat_failure_name(f.class), "context-length", "%s: class", name);
	is_int(f.context, limit, "%s: tokens in all", name);
	is_int(f.prompt, prompt, "%s: tokens of the prompt", name);
	chat_failure_release(&f);
}

#define SAYS(text) "{\"error\":{\"message\":\"" text "\",\"code\":\"context_length_exceeded\"}}"

static void class_of(const char *name, int status, const char *body, const char *class,
                     const char *code)
{
	struct chat_failure f;

	chat_failure_init(&f);
	chat_failure_from_reply(&f, status, STR("application/json"), str_from(body));
	is_str(chat_failure_name(f.class), class, "%s: class", name);
	is_str(buf_cstr(&f.code), code, "%s: code", name);
	chat_failure_release(&f);
}

static void message_of(const char *name, int status, const char *body, const char *message)
{
	struct chat_failure f;

	chat_failure_init(&f);
	if (status == 200)
		chat_failure_in_body(&f, 500, str_from(body));
	else
		chat_failure_from_reply(&f, status, STR("application/json"), str_from(body));
	is_str(buf_cstr(&f.message), message, "%s: message", name);
	chat_failure_release(&f);
}

static void messages(void)
{
	message_of("an empty message", 500,
	           "{\"error\":{\"message\":\"\",\"type\":\"internal_server_error\"}}",
	           "HTTP 500 without an explanation (internal_server_error)");
	message_of("an empty message, no name", 503, "{\"error\":{\"message\":\"\"}}",
	           "HTTP 503 without an explanation");
	message_of("an empty message in a success", 200,
	           "{\"error\":{\"message\":\"\",\"code\":\"x\"}}",
	           "an error without an explanation (x)");
	message_of("an unknown format", 500, "{\"why\":[1]}", "{\"why\":[1]}");
}

/* With numbers, from which a smaller reply limit can be derived. */
static void figures(void)
{
	context("vLLM, prompt and reply together",
	        SAYS("This model's maximum context length is 2048 tokens. However, you "
	             "requested 512 output tokens and your prompt contains at least 1800 "
	             "input tokens, for a total of at least 2312 tokens."),
	        2048, 1800);
	context("messages and completion",
	        SAYS("This model's maximum context length is 4097 tokens. However, you "
	             "requested 4280 tokens (4024 in the messages, 256 in the "
	             "completion). Please reduce the length."),
	        4097, 4024);
	context("messages, functions and completion",
	        SAYS("This model's maximum context length is 4097 tokens. However, you "
	             "requested 4380 tokens (4024 in the messages, 100 in the functions, "
	             "and 256 in the completion). Please reduce the length."),
	        4097, 4124);
	context("llama-cpp-python, no limit of the reply asked for",
	        SAYS("This model's maximum context length is 1024 tokens. However, you "
	             "requested 1190 tokens (1190 in the messages, None in the "
	             "completion). Please reduce the length."),
	        1024, 1190);
	context("SGLang, prompt and reply together",
	        SAYS("Requested token count exceeds the model's maximum context length of 4096 "
	             "tokens. You requested a total of 4500 tokens: 4000 tokens from the input "
	             "messages and 500 tokens for the completion."),
	        4096, 4000);
	context("TGI, prompt and reply together",
	        "{\"error\":\"Input validation error: `inputs` tokens + `max_new_tokens` must be "
	        "<= 4096. Given: 4000 `inputs` tokens and 512 `max_new_tokens`\"}",
	        4096, 4000);
	context("TGI, only the prompt",
	        "{\"error\":\"Input validation error: `inputs` must have less than 4095 tokens. "
	        "Given: 5000\"}",
	        0, 5000);
	context("no figures", SAYS("too long"), 0, 0);
}

static void words_of_others(void)
{
	static const char *const others[] = {
		"The input (5000 tokens) is longer than the model's context length (4096 tokens).",
		"the input length exceeds the context length",
		"prompt is too long: 210000 tokens > 200000 maximum",
		"input length and `max_tokens` exceed context limit: 199000 + 8192 > 200000",
		"The input token count (1200000) exceeds the maximum number of tokens allowed "
		"(1048576).",
		"Input is too long for requested model.",
		"too many tokens: total number of tokens in the prompt cannot exceed 4081",
		"The number of tokens to keep from the initial prompt is greater than the context "
		"length.",
		"the model is loaded with context length of only 4096 tokens, which is not enough.",
		"default_max_tokens (-904) should be greater than 0",
		"The sum of prompt length (5000.0), query length (0) should not exceed "
		"max_num_tokens (4096)",
		"This model's maximum prompt length is 131072 but the request contains 140000 "
		"tokens.",
		"prompt token count of 140000 exceeds the limit of 128000",
	};

	for (size_t i = 0; i < ARRAY_LEN(others); i++) {
		struct buf body = BUF(BUF_MAX_SMALL);

		buf_printf(&body, "{\"error\":{\"message\":\"%s\",\"code\":400}}", others[i]);
		context(others[i], buf_cstr(&body), 0, 0);
		buf_release(&body);
	}
}

int main(void)
{
	class_of("no money, as a gateway says it", 429,
	         "{\"error\":{\"message\":\"m\",\"type\":\"insufficient_quota\",\"code\":"
	         "429}}",
	         "quota", "\"insufficient_quota\"");
	class_of("no money, as OpenAI says it", 429,
	         "{\"error\":{\"message\":\"m\",\"type\":\"insufficient_quota\",\"code\":"
	         "\"insufficient_quota\"}}",
	         "quota", "\"insufficient_quota\"");
	class_of("a limit after blanks", 429,
	         "\n \n{\"error\":{\"message\":\"m\",\"type\":\"tokens\",\"code\":429}}",
	         "rate-limit", "429");
	class_of("a bare error in words", 503, "{\"error\":\"overloaded\"}", "overload", "");
	class_of("a limit of one call", 400,
	         "{\"error\":{\"message\":\"n is too long for this model\",\"code\":400}}",
	         "request", "400");
	messages();
	figures();
	words_of_others();
	return done();
}
