/* What a request demands of the reply to it: a tool_choice. */
#ifndef ROLLDBG_SERVE_LLM_OBEY_H
#define ROLLDBG_SERVE_LLM_OBEY_H

#include "serve/llm/script.h"

/* The scripted reply as the request wants it: with tool_choice none its calls are left out; with
   required, or a tool's name, a reply without a call gets one, with the first values that the
   tool's schema allows. A reply with `message`, `raw` or a status stays as the script has it. */
struct llm_reply llm_obey(const struct llm_reply *r, const struct llm_asked *a,
                          struct arena *arena);

#endif
