/* The first messages of a conversation: the policy's prompts with placeholders replaced and, in
   tool modes json and text, a description of the tools. */
#ifndef ROLLDBG_POLICY_LLM_PROMPTS_H
#define ROLLDBG_POLICY_LLM_PROMPTS_H

#include "policy/llm/conf.h"
#include "policy/llm/conversation.h"

/* tools: raw, as advertised. */
void chat_prompts(const struct llm_conf *c, struct str tools, const struct prompt_values *v,
                  struct conversation *to);

#endif
