/* The settings of a model, from a policy file of kind "llm" and from options, which override
   it (see rolldbg-policy(5)). Read once, shared by all rollouts, immutable afterwards. */
#pragma once

#include "base/error.h"
#include "base/mem.h"
#include "json/scan.h"
#include "policy/llm/api.h"

enum tool_mode { TOOLS_NATIVE, TOOLS_JSON, TOOLS_TEXT };
enum on_no_tool { NO_TOOL_STOP, NO_TOOL_NUDGE, NO_TOOL_CONTINUE };

/* Per million tokens. */
struct llm_price {
	bool given;
	double input, output;
	double cached; /* input tokens found in the server's cache */
	const char *currency;
};

#define LLM_TIMEOUT_MS 300000 /* a generation can take minutes */
#define LLM_RETRIES    4

/* Overrides the file. NULL, or has_x false: use the file's value, or the default. */
struct llm_options {
	const char *base_url, *model, *profile, *api, *key_env, *system, *user;
	const char *tool_mode, *tool_format, *on_no_tool;
	bool has_timeout, has_retries;
	uint64_t timeout_ms, retries;
	bool no_repair, stream, tokens;
	bool insecure; /* accept any TLS certificate */
	/* Variables that a policy file may send to another host (see llm_conf_new). */
	const char *const *allowed_keys;
	size_t allowed_key_count;
};

struct llm_conf {
	struct arena arena;
	struct str name;
	const char *url; /* the URL to which requests are sent */
	const char *model;
	const struct profile *profile;
	const struct api *api;
	const char *key;           /* NULL: no key. Never recorded or logged */
	const char *key_variable;  /* the variable it was read from; NULL: none */
	const char *system, *user; /* templates; system may be NULL */
	enum tool_mode tool_mode;
	const char *tool_format; /* the format of calls in text; NULL: any */
	enum on_no_tool on_no_tool;
	bool repair, stream, tokens, insecure;
	uint64_t timeout_ms;
	uint64_t retries;
	struct llm_price price;
	struct str asked;  /* raw JSON object: the sampling parameters as given */
	struct str extra;  /* raw JSON object, sent unchanged; absent: none */
	struct str params; /* raw JSON object: all of these settings, for the header */
};

extern const char *const tool_mode_names[]; /* indexed by enum, NULL at the end */
extern const char *const on_no_tool_names[];

/* Keys of its files: see struct policy_ops. */
extern const struct keyed_table llm_file_keys;

/* Is the sampling parameter sent to this server through this API? */
bool llm_conf_sends(const struct llm_conf *c, const char *parameter);

/* spec: as in struct policy_conf. *out is NULL if the policy uses no model (another kind, or a
   file of another kind, whose errors policy_open reports). `variable` is getenv, for the key. A
   file must not choose which of the user's variables is sent to another host: a variable other
   than the profile's own must be allowed by the user, with the option or in allowed_keys.
   FAIL_USAGE: options; FAIL_INPUT: the file. */
MUST_USE int llm_conf_new(const char *spec, const struct llm_options *o,
                          const char *(*variable)(const char *name), struct llm_conf **out,
                          struct error *err);
void llm_conf_free(struct llm_conf *c); /* NULL is fine */
