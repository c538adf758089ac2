/* Replies of the scripted model for APIs other than chat completions. All functions append. */
#ifndef ROLLDBG_SERVE_LLM_BODY_APIS_H
#define ROLLDBG_SERVE_LLM_BODY_APIS_H

#include "json/write.h"
#include "serve/llm/script.h"

void llm_completion_whole(const struct llm_reply *r, const struct scripted_request *a,
                          uint64_t number, struct buf *out);
void llm_completion_stream(const struct llm_reply *r, const struct scripted_request *a,
                           uint64_t number, struct buf *out);

void llm_response_whole(const struct llm_reply *r, const struct scripted_request *a,
                        uint64_t number, struct buf *out);
void llm_response_stream(const struct llm_reply *r, const struct scripted_request *a,
                         uint64_t number, struct buf *out);

/* "PREFIX7" */
void llm_put_id(struct json_writer *w, const char *prefix, uint64_t number);

#endif
