/* Applies a request's tool_choice to the scripted reply. */
#ifndef ROLLDBG_SERVE_LLM_TOOL_CHOICE_H
#define ROLLDBG_SERVE_LLM_TOOL_CHOICE_H

#include "serve/llm/script.h"

/* Returns the reply adjusted to tool_choice: "none" removes its calls; "required" or a tool's
   name adds a call if there is none, with the first values that the tool's schema allows. A
   reply with `message`, `raw` or a status is not changed. */
struct llm_reply llm_apply_tool_choice(const struct llm_reply *r, const struct scripted_request *a,
                                       struct arena *arena);

#endif
