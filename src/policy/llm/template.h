/* What the model's chat template tells, where the server shows it: llama.cpp's does (GET /props,
   member chat_template), vLLM and SGLang do not. */
#ifndef ROLLDBG_POLICY_LLM_TEMPLATE_H
#define ROLLDBG_POLICY_LLM_TEMPLATE_H

#include "policy/llm/chat.h"

/* The format in which the model writes calls as text: a name of toolformats.def. NULL: the user
   named one, the server shows no template, or the template shows no calls. Asked once for all
   that share c->usage; any failure is an answer, too, and logged with -vv. */
const char *chat_template_format(struct chat *c);

#endif
