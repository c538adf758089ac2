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
	 "the model that --policy llm asks",                                             \
	 NULL},                                                                          \
		{0,                                                                      \
	         "base-url",                                                             \
	         "URL",                                                                  \
	         OPT_STR,                                                                \
	         (base) + OPT(struct llm_options, base_url),                             \
	         "where it is: http(s)://HOST[/v1] of an OpenAI-compatible server",      \
	         NULL},                                                                  \
		{0,                                                                      \
	         "profile",                                                              \
	         "NAME",                                                                 \
	         OPT_CHOICE,                                                             \
	         (base) + OPT(struct llm_options, profile),                              \
	         "what kind of server it is, and so what it can be asked (default: "     \
	         "generic)",                                                             \
	         "generic|openai|vllm|sglang|llamacpp|ollama|fireworks"},                \
		{0,                                                                      \
	         "key-env",                                                              \
	         "VARIABLE",                                                             \
	         OPT_STR,                                                                \
	         (base) + OPT(struct llm_options, key_env),                              \
	         "the environment variable that holds its API key (default: the "        \
	         "profile's)",                                                           \
	         NULL},                                                                  \
		{0,                                                                      \
	         "tool-mode",                                                            \
	         "MODE",                                                                 \
	         OPT_CHOICE,                                                             \
	         (base) + OPT(struct llm_options, tool_mode),                            \
	         "how it calls tools: native, by the API; json, its whole reply is a "   \
	         "call; text, in the prompt's words (default: native)",                  \
	         "native|json|text"},                                                    \
		{0,                                                                      \
	         "on-no-tool",                                                           \
	         "WHAT",                                                                 \
	         OPT_CHOICE,                                                             \
	         (base) + OPT(struct llm_options, on_no_tool),                           \
	         "when it calls none: stop, nudge (tell it to), continue (default: "     \
	         "stop)",                                                                \
	         "stop|nudge|continue"},                                                 \
		{0,                                                                      \
	         "no-repair",                                                            \
	         NULL,                                                                   \
	         OPT_FLAG,                                                               \
	         (base) + OPT(struct llm_options, no_repair),                            \
	         "do not mend malformed calls: for training data",                       \
	         NULL},                                                                  \
		{0,                                                                      \
	         "tokens",                                                               \
	         NULL,                                                                   \
	         OPT_FLAG,                                                               \
	         (base) + OPT(struct llm_options, tokens),                               \
	         "ask it for token ids and log-probabilities",                           \
	         NULL},                                                                  \
		{0,                                                                      \
	         "stream",                                                               \
	         NULL,                                                                   \
	         OPT_FLAG,                                                               \
	         (base) + OPT(struct llm_options, stream),                               \
	         "have its replies streamed",                                            \
	         NULL},                                                                  \
		{0,                                                                      \
	         "model-timeout",                                                        \
	         "DURATION",                                                             \
	         OPT_MS,                                                                 \
	         (base) + OPT(struct llm_options, timeout),                              \
	         "for one reply of the model (default 5m)",                              \
	         NULL},                                                                  \
	{                                                                                \
		0, "model-retries", "N", OPT_U64,                                        \
			(base) + OPT(struct llm_options, retries),                       \
			"ask again at most so often when it does not answer (default "   \
			"4)",                                                            \
			NULL                                                             \
	}

/* NULL in *out: the policy asks no model. Its key is added to secrets. FAIL_USAGE also
   for options about a model that nobody asks; FAIL_INPUT: the policy file. Before threads
   start. */
MUST_USE int model_read(const struct context *c, const char *policy,
                        const struct llm_options *o, struct secrets *secrets,
                        struct llm_conf **out, struct error *err);

#endif
