/* A request to a model: the tools, the parameters supported by its profile, and the body. */
#pragma once

#include "policy/llm/conf.h"
#include "policy/llm/conversation.h"

/* The constant parts, built once per rollout. */
struct chat_request {
	struct buf fixed;     /* members before `messages`, separated by commas */
	struct buf sent;      /* raw JSON object: the sampling parameters sent */
	int64_t seed;         /* for the first turn; negative: none, or random */
	struct str turn_seed; /* raw JSON; absent: no such seed */
	char seed_text[24];
	const char *limit_name; /* name of the token limit of a reply */
	struct str limit;       /* raw JSON; absent: not requested */
	char limit_text[24];
};

/* tools: as advertised; sample: added to a requested seed, so that the rollouts of a group
   differ. Initialized for the first turn. */
void chat_request_init(struct chat_request *r, const struct llm_conf *c, struct str tools,
                       int64_t sample);
void chat_request_release(struct chat_request *r);

/* Sets the turn of the following requests, counted from 0. The seed differs per turn: with the
   same seed the server would draw the same random numbers each time, and a model could repeat
   the same reply forever. */
void chat_request_turn(struct chat_request *r, int64_t turn);

/* Limits the following replies to this many tokens. */
void chat_request_limit(struct chat_request *r, uint64_t tokens);

/* Replaces the contents of out with the body of a request with these messages (raw JSON values,
   comma separated). If it exceeds out's cap: out->full. */
void chat_request_write(const struct chat_request *r, struct str messages, struct buf *out);

/* tools: raw, as advertised. */
void chat_prompts(const struct llm_conf *c, struct str tools, const struct prompt_values *v,
                  struct conversation *to);
