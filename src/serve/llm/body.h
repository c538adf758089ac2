/* The bodies sent by the scripted model: chat completions, whole or streamed, and errors in the
   formats of several servers. */
#ifndef ROLLDBG_SERVE_LLM_BODY_H
#define ROLLDBG_SERVE_LLM_BODY_H

#include "serve/llm/script.h"

#define LLM_BODY_MAX ((size_t)1 << 30)

/* Appends one chat completion. number: of the request, used in ids. */
void llm_body_whole(const struct llm_reply *r, const struct scripted_request *a, uint64_t number,
                    struct buf *out);
/* The same as server-sent events. */
void llm_body_stream(const struct llm_reply *r, const struct scripted_request *a, uint64_t number,
                     struct buf *out);

/* An error. message: the message, a raw JSON string; code: raw JSON, absent: null. */
struct llm_error_body {
	enum llm_error form;
	unsigned status;
	struct str message, code;
};
const char *llm_body_error(const struct llm_error_body *c, struct buf *out);
/* Appends `size` copies of that character. */
void llm_body_pad(struct buf *out, char with, uint64_t size);

/* {"object":"list","data":[..]} */
void llm_body_models(struct str models, struct buf *out);
/* One of them; name: raw JSON string. */
void llm_body_model(struct str name, struct buf *out);

#endif
