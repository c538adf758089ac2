/* Checks requests against the strictest rules of OpenAI, vLLM and Ollama together, so that a
   client that passes here works with each of them. */
#ifndef ROLLDBG_SERVE_LLM_CHECK_H
#define ROLLDBG_SERVE_LLM_CHECK_H

#include "serve/llm/script.h"

/* A chat completion. False: *why has the reason. Decoded texts in *out are allocated in the
   arena. */
bool llm_check(struct str body, struct arena *arena, struct scripted_request *out, struct buf *why);

#endif
