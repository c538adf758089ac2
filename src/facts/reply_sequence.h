/* Finds a number that several rollouts change in one shared environment. A server may show each
   session only the last observation that this session got; then no state differs from the reply
   before it, although all act on one environment. The replies still reveal it: in the order in which
   the environment ran the calls, each call changes the number from the value that the previous call
   left, whichever rollout made it, and equal calls change it by the same amount or, at a limit, not
   at all. */
#ifndef ROLLDBG_FACTS_REPLY_SEQUENCE_H
#define ROLLDBG_FACTS_REPLY_SEQUENCE_H

#include "facts/member_changes.h"

#define SEQUENCE_STEPS    64 /* replies that are examined: the first ones of a recording */
#define SEQUENCE_ROLLOUTS 16
#define SEQUENCE_NUMBERS  8  /* numbers in the replies, at most one level deep, or in texts */
#define SEQUENCE_POINTER  48 /* bytes; numbers with longer pointers are not examined */

/* A reply to a call. */
struct sequence_step {
	size_t rollout; /* index */
	uint64_t call;
	int64_t sent_ms, answered_ms; /* -1: unknown */
	/* each number in the previous reply to this rollout and in this one; NaN: absent */
	double before[SEQUENCE_NUMBERS], after[SEQUENCE_NUMBERS];
	uint64_t words_hash; /* of what is no number in the reply */
};

struct sequence_rollout {
	int64_t id;
	double newest[SEQUENCE_NUMBERS]; /* NaN: absent */
	/* hash of the newest state's members that replies lack; 0: no state yet */
	uint64_t others_hash;
};

/* The number that the rollouts change. */
struct sequence_found {
	const char *pointer; /* RFC 6901, in the replies; a view of struct reply_sequence */
	size_t steps, rollouts;
	/* steps that do not continue from the previous reply to their own rollout */
	size_t contradicting;
	double first, last;
};

/* The data of one recording. Ready for use if zeroed. */
struct reply_sequence {
	char pointers[SEQUENCE_NUMBERS][SEQUENCE_POINTER];
	double starts[SEQUENCE_NUMBERS]; /* in the replies to resets; NaN: they differ */
	size_t number_count;
	struct sequence_rollout rollouts[SEQUENCE_ROLLOUTS];
	size_t rollout_count;
	struct sequence_step *steps; /* NULL: none yet */
	size_t count;
	bool closed;    /* no more are added: a rollout was reset, or there are too many */
	bool untracked; /* there may be more numbers, or members of the state that changed */
	/* states that equaled the previous reply in all members that both have, or did not */
	int64_t mirrored, not_mirrored;
	/* the result of the last search, which is valid while `count` is `searched` */
	struct sequence_found found;
	bool is_found;
	size_t searched;
};

/* The reply to a call or a reset of a rollout. */
struct sequence_reply {
	int64_t rollout; /* its id */
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

/* False if the reply is not examined, because the sequence is closed. */
bool reply_sequence_add(struct reply_sequence *s, const struct sequence_reply *r);

/* Is there such a number? Then sets *out.
   At least four steps must contradict separate environments, and unrelated values must be unlikely to
   fit (one in 10,000). What else changes must be another such number, count the calls of each rollout,
   or be words that depend on the call alone: otherwise the number may be that of a server with separate
   environments. The same is possible if calls always change it by the same amount: then the states
   must show it, too, and nothing else. */
bool reply_sequence_find(struct reply_sequence *s, struct sequence_found *out);

#endif
