/* Functions of the API adapters, and their common code. Private to the adapters. */
#pragma once

#include "json/write.h"
#include "policy/llm/api.h"

void api_responses_request(struct str chat, struct buf *out);
bool api_responses_reply(struct str body, struct chat_stream *s);
void api_responses_event(struct str data, struct chat_stream *s);

void api_anthropic_request(struct str chat, struct buf *out);
bool api_anthropic_reply(struct str body, struct chat_stream *s);
void api_anthropic_event(struct str data, struct chat_stream *s);

/* ---- requests ---- */

/* The member KEY: a list of what `put` makes of each element. */
void api_put_list(struct json_writer *w, const char *key, struct str list,
                  void (*put)(struct json_writer *w, struct str element));
/* Is that the member that limits the tokens of a reply, in either spelling? */
bool api_is_limit(struct str key);

/* ---- replies ---- */

/* Is the member `type` of a block, an item or an event that word? */
bool api_is_type(struct str value, const char *type);
struct api_usage {
	int64_t prompt, cached, completion;
	bool known;
};
/* The end of a reply, with its usage, if that is known. */
void api_end(struct chat_stream *s, const char *finish_reason, const struct api_usage *u);
