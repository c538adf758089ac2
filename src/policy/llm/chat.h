/* Sends one request to a model and returns the reply, or the reason for having none. Retries
   where that can help; each retry is recorded as an event. Never costs an environment step. */
#pragma once

#include "base/rng.h"
#include "net/io.h"
#include "policy/llm/completion.h"
#include "policy/llm/conf.h"
#include "policy/llm/model_failure.h"
#include "policy/llm/usage.h"
#include "recording/events.h"

struct chat {
	const struct llm_conf *conf;
	struct io *io;
	struct event_queue *events;
	struct rng rng; /* jitter, so that parallel rollouts do not retry at once */
	struct buf authorization, body;
	const char *headers[4];
	size_t header_count;
	struct buf last_message; /* of the previous failure */
	bool replied;            /* it has replied before: its replies are in the history */
	struct llm_usage *usage; /* set by the owner; NULL: not counted */
};

/* Adds the headers of the model's key, whose text is in `authorization`, and of its API: at most
   two. */
void chat_add_key(const struct llm_conf *conf, struct buf *authorization, const char **headers,
                  size_t *count);

/* All borrowed. stream: selects the random stream of this rollout. */
void chat_init(struct chat *c, const struct llm_conf *conf, struct io *io,
               struct event_queue *events, uint64_t stream);
void chat_release(struct chat *c);

/* Returns 0: either *answered is true and *reply is set (release it), or *failure has the reason
   and *reply is empty. Returns -1 for an interrupt or a local failure. */
MUST_USE int chat_ask(struct chat *c, struct str body, struct chat_reply *reply,
                      struct chat_failure *failure, bool *answered, struct error *err);
