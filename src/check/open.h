/* The rollouts whose end has not come yet, and how often ids were used before. */
#ifndef ROLLDBG_CHECK_OPEN_H
#define ROLLDBG_CHECK_OPEN_H

#include "check/findings.h"
#include "check/judge.h"

#define HASH_TEXT_MAX 128 /* a longer state_hash is not kept, hence unknown */

#define TOOL_CACHE 64

struct state_copy {
	char text[HASH_TEXT_MAX];
	size_t n; /* 0: unknown */
};

/* One open rollout: facts for the rules, what the judge keeps beside them, and
   the rules' states. */
struct open_rollout {
	struct open_rollout *next; /* of the same bucket */
	uint64_t hash;
	int64_t instance; /* 1, 2, .. */

	struct rollout_facts facts;
	struct arena arena;
	struct findings findings;
	struct tally tally;

	const struct told *told;
	struct json_paths *ignored; /* of states, when their hashes are verified */
	bool pending;               /* the newest step's effect is not known yet */
	struct past_step newest;
	struct str now; /* state hash of the current line; absent when unknown */
	struct state_copy before; /* the state it was sent in */
	struct state_copy was;    /* the one before it, when the rollout strayed */
	int64_t seen, acted; /* the judge's clock at its last line and its newest call */
	int64_t env_steps;   /* the newest that is known, -1 */
	struct state_copy first_state;
	bool state_known; /* some line had a state hash */
	bool terminal;
	bool past_failed; /* the step told last */
	struct earlier latest;
	int16_t tool_cache[TOOL_CACHE]; /* by a hash of the name: index + 1, 0 none */
	bool session_replaced;          /* since the newest step, or the newest line */

	_Alignas(max_align_t) unsigned char states[]; /* of the rules; the judge knows the
	                                                 offsets */
};

struct open_table {
	struct open_rollout **buckets;
	size_t size, count;
	struct ended *ended; /* ids that ended in this file, by hash */
	size_t ended_size, ended_count;
};

uint64_t open_hash(struct str id);
struct open_rollout *open_find(const struct open_table *t, struct str id, uint64_t hash);
struct open_rollout *open_find_hash(const struct open_table *t, uint64_t hash);

/* A zeroed rollout with room for the rules' states, its id copied and instance
   counted. */
struct open_rollout *open_add(struct open_table *t, struct str id, uint64_t hash,
                              size_t states);

/* Takes it out, remembers its id as used, frees it. */
void open_end(struct open_table *t, struct open_rollout *o);

/* How many instances of that id have ended. */
int64_t open_ended(const struct open_table *t, uint64_t hash);

/* The open rollouts in the order of their ids: an array to free(), NULL when
   there are none. */
struct open_rollout **open_list(const struct open_table *t);

/* A new file: used ids are forgotten. Everything must have ended before. */
void open_forget(struct open_table *t);
void open_release(struct open_table *t); /* zeroed is fine */

#endif
