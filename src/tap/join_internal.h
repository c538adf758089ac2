/* The turns that wait to be joined, for join.c (which one a call comes from) and apart.c (their lines,
   and recordings of those that were not joined). */
#ifndef ROLLDBG_TAP_JOIN_INTERNAL_H
#define ROLLDBG_TAP_JOIN_INTERNAL_H

#include "base/map.h"
#include "tap/joining.h"

struct tap_joiner {
	struct tap_recording *r;
	const char *url;
	struct model_turn *first, *last; /* in the order of their replies */
	size_t waiting;
	uint64_t conversations; /* recorded apart */
	struct hasher *hasher;
	struct map shared; /* names that several rollouts have */
	uint64_t name;     /* the last weak one */
	bool several;      /* there were different ones */
	uint64_t guessed;  /* hash of the last call that was joined by time, and of its request */
	struct buf scratch;
	struct tap_join_counts counts;
};

/* Takes a turn from those that wait. */
void tap_join_remove(struct tap_joiner *j, struct model_turn *t);

/* Appends the messages that a turn adds to those of its first `from` units, with its reply, and
   its `llm`. hash: of the conversation before and, afterwards, with the turn. */
void tap_join_write(struct tap_joiner *j, const struct model_turn *t, size_t from,
                    char hash[HASH_HEX + 1], struct buf *messages, struct buf *llm);
/* Adds the sampling parameters to `llm`, if they differ from the last ones. */
void tap_join_put_sent(const struct model_turn *t, struct buf *last, struct buf *llm);
/* Records a turn, and those that continue it, as a rollout of its own, and frees them. */
void tap_join_apart(struct tap_joiner *j, struct model_turn *t);

bool tap_join_continues(const struct model_turn *before, const struct model_turn *t);

#endif
