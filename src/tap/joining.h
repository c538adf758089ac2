/* Relates a model's turns to the sessions of environments: by what requests name as their rollout
   (path, header, key), by content (the call, the conversation so far, the environment's last reply),
   or by time. A turn whose session remains ambiguous is recorded apart; nothing is guessed without
   saying so. For one thread. */
#pragma once

#include "base/hash.h"
#include "base/map.h"
#include "tap/model_turn.h"

/* What the turns that were joined with an episode tell about the next one. Zeroed: none was. */
struct tap_talk {
	uint64_t rollout;        /* hash of the name in its requests; 0: none */
	char hash[HASH_HEX + 1]; /* of the conversation as recorded */
	struct model_turn *turn; /* the last one, which others continue; NULL: none was joined */
	struct model_turn
		*waiting;     /* turns without a call, to be recorded after the steps in flight */
	int64_t turns;        /* recorded so far */
	int64_t calls;        /* made so far, in flight or not */
	uint64_t answered_ns; /* the last reply of the environment */
	struct buf result, sent; /* its text; the last sampling parameters */
};

struct tap_joiner *tap_joiner_of(struct tap_recording *r); /* NULL: models are not recorded */

void tap_joiner_add(struct tap_joiner *j, struct model_turn *t); /* takes it over */
/* A request without a reply. detail: a raw object. */
void tap_joiner_fail(struct tap_joiner *j, struct model_request *q, struct str detail);
/* A request that cannot be read. */
void tap_joiner_skip(struct tap_joiner *j, const struct tap_connection *c);
/* Records apart what waited for too long; all: everything that waits. */
void tap_joiner_tick(struct tap_joiner *j, bool all); /* NULL is fine */

/* ---- for sessions; nothing if models are not recorded ---- */

struct tap_session;
struct tap_step;
struct env_reply;

/* A call was sent: sets the step's turn, and what the model said. */
void tap_join_call(struct tap_session *s, struct tap_step *step);
/* A step was recorded. */
void tap_join_answered(struct tap_session *s, const struct env_reply *reply);
void tap_join_end(struct tap_session *s); /* before the end of its episode is written */

/* ---- the turns that wait to be joined: for join.c (which one a call comes from) and apart.c (their
   lines, and recordings of those that were not joined) ---- */

struct tap_joiner {
	struct tap_recording *r;
	struct model_turn *first, *last; /* in the order of their replies */
	size_t waiting;
	uint64_t conversations; /* recorded apart */
	struct map shared;      /* names that several rollouts have */
	uint64_t name;          /* the last weak one */
	bool several;           /* there were different ones */
	uint64_t guessed; /* hash of the last call that was joined by time, and of its request */
	struct buf scratch;
};

struct tap_joiner *tap_joiner_new(struct tap_recording *r);
void tap_joiner_free(struct tap_joiner *j); /* NULL is fine */

/* Takes a turn from those that wait. */
void tap_join_remove(struct tap_joiner *j, struct model_turn *t);

/* The turn is the conversation's next one, which takes it over. Appends the messages that it adds, with its
   reply, and its `llm`, which has the sampling parameters if they differ from the last ones. */
void tap_talk_add(struct tap_joiner *j, struct tap_talk *k, struct model_turn *t,
                  struct buf *messages, struct buf *llm);
/* The same for a turn without a call: it is written as a line with these fields. */
struct tap_lines;
struct step_fields;
void tap_talk_write(struct tap_joiner *j, struct tap_talk *k, struct model_turn *t,
                    struct tap_lines *l, struct step_fields f);
/* Records a turn, and those that continue it, as a rollout of its own, and frees them. */
void tap_join_apart(struct tap_joiner *j, struct model_turn *t);
