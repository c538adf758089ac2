/* Asks a model: one request, and one reply or the reason why there is none. Waits and asks again
   if that can help; each such attempt is an event `retry`. Never costs an environment step. */
#ifndef ROLLDBG_POLICY_LLM_CHAT_H
#define ROLLDBG_POLICY_LLM_CHAT_H

#include "base/rng.h"
#include "net/io.h"
#include "policy/llm/conf.h"
#include "policy/llm/failure.h"
#include "policy/llm/reply.h"
#include "policy/llm/usage.h"
#include "trajectory/events.h"

struct chat {
	const struct llm_conf *conf;
	struct io *io;
	struct event_queue *events;
	struct rng rng; /* spreads the waits of many rollouts */
	struct buf authorization, body;
	struct buf translated; /* a reply of another API, converted to chat completions */
	const char *headers[4];
	size_t header_count;
	struct buf last_message; /* of the previous failure */
	bool replied;            /* it replied once: its own replies are in the history */
	struct llm_usage *usage; /* set by the owner; NULL: not counted */
};

/* Borrows all three. stream: distinguishes rollouts. */
void chat_init(struct chat *c, const struct llm_conf *conf, struct io *io,
               struct event_queue *events, uint64_t stream);
void chat_release(struct chat *c);

/* Returns 0: either *answered is true and *reply holds the reply (release it), or *failure says
   why not and *reply is empty. Returns -1 for an interrupt or a local failure. */
MUST_USE int chat_ask(struct chat *c, struct str body, struct chat_reply *reply,
                      struct chat_failure *failure, bool *answered, struct error *err);

#endif
