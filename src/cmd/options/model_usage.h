/* Progress and summary of a run's model: how long it has been waited for, and its total usage. */
#ifndef ROLLDBG_CMD_OPTIONS_MODEL_USAGE_H
#define ROLLDBG_CMD_OPTIONS_MODEL_USAGE_H

#include "policy/llm/conf.h"
#include "policy/llm/usage.h"

/* "turn 3: waiting for the model · 12 s · 341 tokens"; appends nothing and returns false if no
   reply is pending. */
bool model_say_waiting(struct llm_usage *u, uint64_t now_ns, struct buf *out);
/* " · 12034 tokens": the total of all replies so far; nothing before the first. */
void model_say_tokens(struct llm_usage *u, struct buf *out);

/* The summary line: requests, tokens, and cost if the policy file has prices. Text output only:
   JSON lines are those of `check`, and the recording contains each reply's usage. */
void model_say_usage(struct llm_usage *u, const struct llm_conf *c, struct buf *out);

#endif
