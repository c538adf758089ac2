/* The options for a policy's model. */
#pragma once

#include "cmd/options/target_options.h"
#include "policy/llm/conf.h"
#include "policy/llm/usage.h"

#define MEMBERS model
#include "cmd/options/members.h"

/* Reads the model's settings; *out is NULL if the policy uses no model. Adds its API key to the
   target's secrets and withholds its variable from a stdio: server. FAIL_USAGE also for model
   options without a model; FAIL_INPUT for the policy file. Call it before threads start. */
MUST_USE int model_read(const struct context *c, const char *policy, const struct model_options *o,
                        struct env_target *t, struct llm_conf **out, struct error *err);

/* ---- waiting time and usage ---- */

/* "turn 3: waiting for the model · 12 s · 341 tokens"; appends nothing and returns false if no
   reply is pending. */
bool model_say_waiting(struct llm_usage *u, uint64_t now_ns, struct buf *out);
/* " · 12034 tokens": the total of all replies so far; nothing before the first. */
void model_say_tokens(struct llm_usage *u, struct buf *out);

/* The summary line: requests, tokens, and cost if the policy file has prices. Text output only:
   JSON lines are those of `check`, and the recording contains each reply's usage. */
void model_say_usage(struct llm_usage *u, const struct llm_conf *c, struct buf *out);
