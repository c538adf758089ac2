/* Functions of the API adapters, and their common code. Private to the adapters. */
#ifndef ROLLDBG_POLICY_LLM_API_INTERNAL_H
#define ROLLDBG_POLICY_LLM_API_INTERNAL_H

#include "json/write.h"
#include "policy/llm/api.h"

void api_responses_request(struct str chat, struct buf *out);
bool api_responses_reply(struct str body, struct buf *out);
void api_responses_event(struct api_stream *s, struct str data, struct buf *out, bool *done);

void api_anthropic_request(struct str chat, struct buf *out);
bool api_anthropic_reply(struct str body, struct buf *out);
void api_anthropic_event(struct api_stream *s, struct str data, struct buf *out, bool *done);

/* {"choices":[{"index":0,"delta":{KEY:VALUE}}]}; value: raw JSON. */
void api_chunk(const char *key, struct str value, struct buf *out);
/* A chunk of a call. id, name: raw JSON, only in its first chunk; arguments: a raw JSON string. */
struct api_call_piece {
	int64_t index;
	struct str id, name, arguments; /* raw JSON */
};
void api_chunk_call(const struct api_call_piece *c, struct buf *out);
/* The last chunk of a reply. */
struct api_usage {
	int64_t prompt, cached, completion;
	bool known;
};
void api_chunk_end(const char *finish_reason, const struct api_usage *u, struct buf *out);

/* ---- requests ---- */

/* The member KEY: a list of what `put` makes of each element. */
void api_put_list(struct json_writer *w, const char *key, struct str list,
                  void (*put)(struct json_writer *w, struct str element));
/* Is that the member that limits the tokens of a reply, in either spelling? */
bool api_is_limit(struct str key);

/* ---- replies ---- */

/* Is the member `type` of a block, an item or an event that word? */
bool api_is_type(struct str value, const char *type);
/* The member `usage`, in the form of chat completions; nothing if it is unknown. */
void api_put_usage(struct json_writer *w, const struct api_usage *u);
/* Writes an element of `tool_calls`; arguments: a raw JSON string. */
void api_put_call(struct json_writer *w, struct str id, struct str name, struct str arguments);

#endif
