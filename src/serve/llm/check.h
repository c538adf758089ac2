/* Is a request for a chat completion one that every server of the kind takes? The
   strictest rules of OpenAI, vLLM and Ollama together, so that a client that passes here
   passes there. */
#ifndef ROLLDBG_SERVE_LLM_CHECK_H
#define ROLLDBG_SERVE_LLM_CHECK_H

#include "serve/llm/script.h"

/* False: why holds the sentence. Decoded texts in *out live in the arena. */
bool llm_check(struct str body, struct arena *arena, struct llm_asked *out, struct buf *why);
/* The same for /v1/completions and for /v1/responses. */
bool llm_check_completion(struct str body, struct arena *arena, struct llm_asked *out,
                          struct buf *why);
bool llm_check_response(struct str body, struct arena *arena, struct llm_asked *out,
                        struct buf *why);

#endif
