/* Facts from the model's chat template, if the server exposes it: llama.cpp does (GET /props,
   member chat_template), vLLM and SGLang do not. */
#ifndef ROLLDBG_POLICY_LLM_TEMPLATE_H
#define ROLLDBG_POLICY_LLM_TEMPLATE_H

#include "policy/llm/chat.h"

/* The format in which the model writes calls as text: a name in toolformats.def. NULL: the user
   named one, the server exposes no template, or the template contains no known format. Requested
   once for all rollouts that share c->usage; a failure counts as NULL and is logged with -vv. */
const char *chat_template_format(struct chat *c);

#endif
