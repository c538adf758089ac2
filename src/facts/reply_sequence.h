/* Do rollouts that run at the same time change one number together? A server may show each session
   the last observation it got itself although all of them act on one environment; then no state
   differs from the reply before it. But in the order in which the environment ran the calls, each
   changes the number from where the call before it, of whichever rollout, had left it: calls with the
   same arguments always by the same amount. */
#ifndef ROLLDBG_FACTS_REPLY_SEQUENCE_H
#define ROLLDBG_FACTS_REPLY_SEQUENCE_H

#include "facts/member_changes.h"

#define SEQUENCE_STEPS    64 /* replies that are examined: the first ones of a recording */
#define SEQUENCE_ROLLOUTS 16
#define SEQUENCE_NUMBERS  8  /* numbers in the replies, at most one level deep, or in texts */
#define SEQUENCE_NAME     48 /* bytes */

/* A reply to a call. */
struct sequence_step {
	size_t rollout;
	uint64_t call;
	int64_t sent_ms, answered_ms; /* -1: unknown */
	/* each number in the previous reply to this rollout and in this one; NaN: absent */
	double before[SEQUENCE_NUMBERS], after[SEQUENCE_NUMBERS];
};

struct sequence_rollout {
	int64_t number;
	double newest[SEQUENCE_NUMBERS]; /* NaN: absent */
	uint64_t rest;                   /* hash of all that is no number, in the newest reply */
	uint64_t others; /* of the newest state's members that replies lack; 0: none */
	bool replied;    /* to a call */
};

/* The data of one recording. Ready for use if zeroed. */
struct reply_sequence {
	uint64_t keys[SEQUENCE_NUMBERS];
	char names[SEQUENCE_NUMBERS][SEQUENCE_NAME]; /* JSON pointers */
	double starts[SEQUENCE_NUMBERS]; /* in the replies to resets; NaN: they differ */
	size_t number_count;
	struct sequence_rollout rollouts[SEQUENCE_ROLLOUTS];
	size_t rollout_count;
	struct sequence_step *steps; /* NULL: none yet */
	size_t count;
	bool closed;       /* no more are added: a rollout was reset, or there are too many */
	bool rest_changes; /* something that is no number differed between two replies */
	/* states that equaled the previous reply in all members that both have, or did not */
	int64_t mirrored, not_mirrored;
};

/* The reply to a call or a reset of a rollout. */
struct sequence_reply {
	int64_t rollout; /* its number */
	bool reset;
	uint64_t call; /* distinguishes calls */
	/* when the call was sent and answered, on any clock; -1: unknown */
	int64_t sent_ms, answered_ms;
	struct str state;    /* before the call; absent if unknown */
	struct str previous; /* reply to this rollout */
	/* of this rollout: members that change without a call are left out */
	const struct member_changes *states;
	struct str observation;
};

void reply_sequence_release(struct reply_sequence *s); /* zeroed is fine */
void reply_sequence_add(struct reply_sequence *s, const struct sequence_reply *r);

/* The number that all rollouts change. */
struct sequence_found {
	const char *name; /* its JSON pointer; "" for the reply itself */
	size_t steps, rollouts;
	size_t otherwise; /* steps that did not change it from the own rollout's previous reply */
	double first, last;
};

/* Is there such a number? Calls must change it by different amounts, because one that always grows
   by the same may count the calls of a server with separate environments; unless the replies and the
   states have nothing else that changes. At least four steps must contradict separate environments,
   and it must be improbable (one in ten thousand) that unrelated values fit. Not found if calls
   change another number in the same way in each rollout by itself. */
bool reply_sequence_find(const struct reply_sequence *s, struct sequence_found *out);

#endif
