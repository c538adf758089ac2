/* Which model a policy asks: see model.h. */
#include "cmd/model.h"

#include "policy/policy.h"

/* The first option that makes no sense without a model; NULL: none was given. */
static const char *stray_option(const struct llm_options *o)
{
	const struct {
		const char *name;
		bool given;
	} all[] = {
		{"--model", o->model},
		{"--base-url", o->base_url},
		{"--profile", o->profile},
		{"--key-env", o->key_env},
		{"--tool-mode", o->tool_mode},
		{"--on-no-tool", o->on_no_tool},
		{"--no-repair", o->no_repair},
		{"--tokens", o->tokens},
		{"--stream", o->stream},
		{"--model-timeout", o->timeout.given},
		{"--model-retries", o->retries.given},
	};

	for (size_t i = 0; i < ARRAY_LEN(all); i++) {
		if (all[i].given) {
			return all[i].name;
		}
	}
	return NULL;
}

int model_read(const struct context *c, const char *policy, const struct llm_options *o,
               struct secrets *secrets, struct llm_conf **out, struct error *err)
{
	const char *stray = stray_option(o);

	if (llm_conf_new(policy, o, c->variable, out, err)) {
		return -1;
	}
	if (!*out && stray && policy && policy_check(policy, err)) {
		return -1; /* nobody knows yet whether it asks one */
	}
	if (!*out && stray) {
		return error_set(err, FAIL_USAGE,
		                 "%s is about a model, and this policy asks none: give "
		                 "--policy llm or a policy file of kind llm",
		                 stray);
	}
	if (*out && (*out)->key) {
		secrets_add(secrets, str_from((*out)->key));
	}
	return 0;
}
