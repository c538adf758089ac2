/* The options for a policy's model. */
#ifndef ROLLDBG_CMD_OPTIONS_MODEL_H
#define ROLLDBG_CMD_OPTIONS_MODEL_H

#include "cmd/options/target.h"
#include "policy/llm/conf.h"

struct model_options {
	struct llm_options llm;
	struct opt_list allowed_keys;
	struct opt_u64 timeout, retries;
};
extern const struct option_group model_group;

/* Reads the model's settings; *out is NULL if the policy uses no model. Adds its API key to the
   target's secrets and withholds its variable from a stdio: server. FAIL_USAGE also for model
   options without a model; FAIL_INPUT for the policy file. Call it before threads start. */
MUST_USE int model_read(const struct context *c, const char *policy, const struct model_options *o,
                        struct env_target *t, struct llm_conf **out, struct error *err);

#endif
