/* The messages that a conversation with a model begins with: the policy's prompts, filled
   in, and the tools where the model has to be told of them in words. */
#ifndef ROLLDBG_POLICY_LLM_PROMPTS_H
#define ROLLDBG_POLICY_LLM_PROMPTS_H

#include "policy/llm/conf.h"
#include "policy/llm/conversation.h"

/* tools: as advertised, raw. */
void chat_prompts(const struct llm_conf *c, struct str tools,
                  const struct prompt_values *v, struct conversation *to);

#endif
