/* How a decision came about, as the recording's `llm` has it: the reply and how calls were read
   from it, or why there was none. */
#ifndef ROLLDBG_POLICY_LLM_ABOUT_H
#define ROLLDBG_POLICY_LLM_ABOUT_H

#include "policy/llm/calls.h"
#include "policy/llm/failure.h"
#include "policy/llm/reply.h"

/* Both write a JSON object in place of what out held. seed: raw, of the request; absent: none. */
void about_reply(const struct chat_reply *r, const struct tool_calls *calls, struct str seed,
                 const char *prompt_hash, struct buf *out);
void about_failure(const struct chat_failure *f, const char *prompt_hash, struct buf *out);

#endif
