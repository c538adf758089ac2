/* What a run says of its model: how long it has been thinking, and in the end what it cost. */
#ifndef ROLLDBG_CMD_MODEL_USAGE_H
#define ROLLDBG_CMD_MODEL_USAGE_H

#include "policy/llm/conf.h"
#include "policy/llm/usage.h"

/* "turn 3: waiting for the model · 12 s · 341 tokens"; false, and nothing: it is not waited for. */
bool model_say_waiting(struct llm_usage *u, uint64_t now_ns, struct buf *out);
/* " · 12034 tokens", of all replies so far; nothing before the first. */
void model_say_tokens(struct llm_usage *u, struct buf *out);

/* The line of the summary: requests, tokens, and money where the policy file has a price. Not among
   the JSON lines, which are those of check: the recording has each reply's usage. */
void model_say_usage(struct llm_usage *u, const struct llm_conf *c, struct buf *out);

#endif
