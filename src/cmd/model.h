/* The options that say which model a policy asks, and reading them. */
#ifndef ROLLDBG_CMD_MODEL_H
#define ROLLDBG_CMD_MODEL_H

#include "cmd/cmd.h"
#include "policy/llm/conf.h"
#include "trajectory/redact.h"

#define MODEL_OPTIONS(base)                                                              \
	{0,                                                                              \
	 "model",                                                                        \
	 "NAME",                                                                         \
	 OPT_STR,                                                                        \
	 (base) + OPT(struct llm_options, model),                                        \
	 "name of the model, for --policy llm",                                          \
	 NULL},                                                                          \
		{0,                                                                      \
	         "base-url",                                                             \
	         "URL",                                                                  \
	         OPT_STR,                                                                \
	         (base) + OPT(struct llm_options, base_url),                             \
	         "OpenAI-compatible server of the model: http(s)://HOST[/v1]",           \
	         NULL},                                                                  \
		{0,                                                                      \
	         "profile",                                                              \
	         "NAME",                                                                 \
	         OPT_CHOICE,                                                             \
	         (base) + OPT(struct llm_options, profile),                              \
	         "kind of model server, which decides what parameters it is sent "       \
	         "(default: generic)",                                                   \
	         "generic|openai|vllm|sglang|llamacpp|ollama|fireworks"},                \
		{0,                                                                      \
	         "key-env",                                                              \
	         "VARIABLE",                                                             \
	         OPT_STR,                                                                \
	         (base) + OPT(struct llm_options, key_env),                              \
	         "environment variable that holds the API key (default: the profile's)", \
	         NULL},                                                                  \
		{0,                                                                      \
	         "tool-mode",                                                            \
	         "MODE",                                                                 \
	         OPT_CHOICE,                                                             \
	         (base) + OPT(struct llm_options, tool_mode),                            \
	         "how the model calls tools: native, through the API; json, its whole "  \
	         "reply is a call; text, as the prompt tells it to (default: native)",   \
	         "native|json|text"},                                                    \
		{0,                                                                      \
	         "on-no-tool",                                                           \
	         "WHAT",                                                                 \
	         OPT_CHOICE,                                                             \
	         (base) + OPT(struct llm_options, on_no_tool),                           \
	         "when the model calls no tool: stop, nudge (tell it to call one) or "   \
	         "continue (default: stop)",                                             \
	         "stop|nudge|continue"},                                                 \
		{0,                                                                      \
	         "no-repair",                                                            \
	         NULL,                                                                   \
	         OPT_FLAG,                                                               \
	         (base) + OPT(struct llm_options, no_repair),                            \
	         "do not repair malformed calls, as training data wants",                \
	         NULL},                                                                  \
		{0,                                                                      \
	         "tokens",                                                               \
	         NULL,                                                                   \
	         OPT_FLAG,                                                               \
	         (base) + OPT(struct llm_options, tokens),                               \
	         "ask for token ids and log-probabilities",                              \
	         NULL},                                                                  \
		{0,                                                                      \
	         "stream",                                                               \
	         NULL,                                                                   \
	         OPT_FLAG,                                                               \
	         (base) + OPT(struct llm_options, stream),                               \
	         "ask for streamed replies",                                             \
	         NULL},                                                                  \
		{0,                                                                      \
	         "model-timeout",                                                        \
	         "DURATION",                                                             \
	         OPT_MS,                                                                 \
	         (base) + OPT(struct llm_options, timeout),                              \
	         "give up a reply of the model after this long (default 5m)",            \
	         NULL},                                                                  \
	{                                                                                \
		0, "model-retries", "N", OPT_U64,                                        \
			(base) + OPT(struct llm_options, retries),                       \
			"ask again up to N times when the model does not answer "        \
			"(default 4)",                                                   \
			NULL                                                             \
	}

/* NULL in *out: the policy asks no model. Its key is added to secrets. FAIL_USAGE also
   for options about a model that nobody asks; FAIL_INPUT: the policy file. Before threads
   start. */
MUST_USE int model_read(const struct context *c, const char *policy,
                        const struct llm_options *o, struct secrets *secrets,
                        struct llm_conf **out, struct error *err);

#endif
