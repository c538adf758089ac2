/* The `llm` member of a turn in the recording: the reply and how calls were parsed from it, or
   why there was no reply. */
#ifndef ROLLDBG_POLICY_LLM_ABOUT_H
#define ROLLDBG_POLICY_LLM_ABOUT_H

#include "policy/llm/calls.h"
#include "policy/llm/failure.h"
#include "policy/llm/reply.h"

/* Both replace the contents of out with a JSON object. seed: raw, from the request; absent:
   none. */
void about_reply(const struct chat_reply *r, const struct tool_calls *calls, struct str seed,
                 const char *prompt_hash, struct buf *out);
void about_failure(const struct chat_failure *f, const char *prompt_hash, struct buf *out);

#endif
