/* The bodies that the scripted model sends: completions whole and streamed, errors in the
   forms that are about. */
#ifndef ROLLDBG_SERVE_LLM_BODY_H
#define ROLLDBG_SERVE_LLM_BODY_H

#include "serve/llm/script.h"

#define LLM_BODY_MAX ((size_t)1 << 30)

/* One chat completion; number: of the request, for its ids. Appends. */
void llm_body_whole(const struct llm_reply *r, const struct llm_asked *a, uint64_t number,
                    struct buf *out);
/* The same as server-sent events. */
void llm_body_stream(const struct llm_reply *r, const struct llm_asked *a, uint64_t number,
                     struct buf *out);

/* An error. words: raw JSON string; code: raw JSON, absent: null. Gives the content type,
   NULL for no body. */
struct llm_complaint {
	enum llm_error form;
	unsigned status;
	struct str words, code;
};
const char *llm_body_error(const struct llm_complaint *c, struct buf *out);
/* Appends so many of that character. */
void llm_body_fill(struct buf *out, char with, uint64_t size);

/* {"object":"list","data":[..]} */
void llm_body_models(struct str models, struct buf *out);
/* One of them; name: raw JSON string. */
void llm_body_model(struct str name, struct buf *out);

#endif
