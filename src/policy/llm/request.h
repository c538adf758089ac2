/* A request to a model: the tools in its format, the parameters its profile supports, and the
   body. */
#ifndef ROLLDBG_POLICY_LLM_REQUEST_H
#define ROLLDBG_POLICY_LLM_REQUEST_H

#include "policy/llm/conf.h"

/* The parts that are the same in every turn, made once per rollout. */
struct chat_request {
	struct buf fixed;     /* members before `messages`, separated by commas */
	struct buf sent;      /* raw JSON object: the sampling parameters that are sent */
	int64_t seed;         /* for the first turn; negative: none, or any */
	struct str turn_seed; /* raw JSON; absent: the seed is not such a number */
	char seed_text[24];
	const char *limit_name; /* of a reply, in tokens */
	struct str limit;       /* raw JSON; absent: not requested */
	char limit_text[24];
	struct buf head; /* of the body written last: all before its messages */
};

/* tools: as advertised by the environment; sample: added to a requested seed, so that the
   rollouts of a group differ. Ready for the first turn. */
void chat_request_init(struct chat_request *r, const struct llm_conf *c, struct str tools,
                       int64_t sample);
void chat_request_release(struct chat_request *r);

/* Requests are of that turn from now on, counted from 0: a server that is given one seed
   in every turn draws the same random numbers in every turn, and a model that hesitates
   makes the same choice for ever. */
void chat_request_turn(struct chat_request *r, int64_t turn);

/* Limits replies to this many tokens from now on. */
void chat_request_limit(struct chat_request *r, uint64_t tokens);

/* The body of a request with these messages (raw JSON values, comma separated), in place of what
   out held. Over out's cap: out->full. same: so many bytes of the messages are those of the body
   written last, which is still in out; 0: none. A turn then costs what it adds, not all that was
   said before. */
void chat_request_write(struct chat_request *r, struct str messages, size_t same, struct buf *out);

/* Appends the tools as text, for prompts of tool mode text and json: one line a tool,
   {"name":..,"description":..,"parameters":..}. */
void chat_tools_describe(struct str tools, struct buf *out);

#endif
