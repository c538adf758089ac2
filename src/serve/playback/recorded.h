/* What a recording says an environment answered, rollout by rollout and in memory, without what
   nobody will ask for again: conversations, times, turns that sent nothing. */
#ifndef ROLLDBG_SERVE_PLAYBACK_RECORDED_H
#define ROLLDBG_SERVE_PLAYBACK_RECORDED_H

#include "base/error.h"
#include "base/map.h"
#include "base/mem.h"
#include "trajectory/line.h"

/* The answer to a reset or a call. Raw JSON unless said otherwise; absent: null. */
struct recorded_reply {
	enum outcome outcome;
	enum error_layer layer, disagrees;
	struct str code, message;
	struct str observation, structured;
	struct str
		text; /* raw string: how a model got to read the observation, if that is its JSON */
	struct str bytes; /* of a reply that was no JSON, decoded */
	struct str reward;
	int8_t terminated, truncated; /* -1: not known */
	int64_t env_steps;            /* -1: not known */
};

struct recorded_call {
	struct str name;      /* decoded */
	struct str arguments; /* canonical */
	uint64_t key;         /* equal calls have the same */
	struct recorded_reply reply;
	struct str after, after_hash; /* the state after it, and its hash; absent: not known */
	bool renames;                 /* its reply named another transport session */
};

struct played;

struct recorded_rollout {
	struct map_item item;
	struct str id;
	struct str protocol, name, version; /* decoded; absent: not known */
	struct str tools;                   /* raw array; absent: there was no session */
	struct str reset_args;              /* raw object; absent: none */
	bool has_seed, was_reset;
	int64_t seed;
	enum state_kind state_kind;
	struct recorded_reply reset;
	struct str first_state, first_hash, total_reward;
	struct recorded_call *calls; /* those that were sent */
	size_t count, room;
	/* Set by whoever plays it. */
	size_t uses;           /* sessions that were given it */
	struct played *player; /* the open one of them; NULL: none */
};

struct recorded {
	struct recorded_rollout **rollouts; /* in the order of their headers */
	size_t count, room;
	struct map ids;
	struct arena arena;
};

/* Larger recordings are refused: all of it is kept in memory. */
#define RECORDED_MAX ((size_t)1 << 30)

/* FAIL_INPUT: no such file, no recording, larger than RECORDED_MAX, a rollout with neither a reset nor
   a call. One without an end is played up to where it stops. Where no tools were recorded, as in many
   imports, those that are called are on offer. recorded_release in every case. */
MUST_USE int recorded_read(const char *path, struct recorded *out, struct error *err);
void recorded_release(struct recorded *r); /* zeroed is fine */

/* The key of a call: its decoded name and canonical arguments. */
uint64_t recorded_key(struct str name, struct str arguments);

#endif
