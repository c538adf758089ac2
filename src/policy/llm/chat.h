/* Asking a model: one request, one reply or the reason why there is none. Waits and asks
   again where that can help; each such attempt is an event `retry`. Never costs a step of
   the environment. */
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
	struct buf translated; /* a reply of another API, as chat completions */
	const char *headers[4];
	size_t header_count;
	struct buf last_message; /* of the failure before */
	bool replied;            /* once: its own replies are in the history now */
	struct llm_usage *usage; /* set by the owner; NULL: nobody counts */
};

/* Borrows all three. stream: distinguishes rollouts. */
void chat_init(struct chat *c, const struct llm_conf *conf, struct io *io,
               struct event_queue *events, uint64_t stream);
void chat_release(struct chat *c);

/* 0: *answered, and *reply holds the reply (release it); or *failure says why not and *reply is
   empty. -1: interrupted, or a local failure. */
MUST_USE int chat_ask(struct chat *c, struct str body, struct chat_reply *reply,
                      struct chat_failure *failure, bool *answered, struct error *err);

#endif
