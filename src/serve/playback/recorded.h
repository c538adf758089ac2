/* The environment's replies in a recording, by rollout and in memory, without what playback does
   not need: conversations, times, turns without a call. */
#ifndef ROLLDBG_SERVE_PLAYBACK_RECORDED_H
#define ROLLDBG_SERVE_PLAYBACK_RECORDED_H

#include "base/error.h"
#include "base/map.h"
#include "base/mem.h"
#include "recording/line.h"

/* The reply to a reset or a call. Raw JSON unless stated otherwise; absent: null. */
struct recorded_reply {
	enum outcome outcome;
	enum error_layer layer, disagrees;
	struct str code, message;
	struct str observation, structured;
	struct str text; /* raw string: the observation as the model got it, if that is JSON text */
	struct str bytes; /* of a reply that was not JSON, decoded */
	struct str reward;
	int8_t terminated, truncated; /* -1: not known */
	int64_t env_steps;            /* -1: not known */
};

struct recorded_call {
	struct str name;      /* decoded */
	struct str arguments; /* canonical */
	uint64_t key;         /* equal for equal calls */
	struct recorded_reply reply;
	struct str after, after_hash; /* state after the call, and its hash; absent: not known */
	bool changes_session;         /* the reply named another transport session */
};

struct playback_session;

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
	/* Set by playback.c. */
	size_t plays;                     /* number of sessions that played it */
	struct playback_session *session; /* the session playing it now; NULL: none */
};

struct recorded {
	struct recorded_rollout **rollouts; /* in the order of their headers */
	size_t count, room;
	struct map ids;
	struct arena arena;
};

/* Larger recordings are refused, because they are kept in memory. */
#define RECORDED_MAX ((size_t)1 << 30)

/* FAIL_INPUT: the file cannot be read, is not a recording, is larger than RECORDED_MAX, or has a
   rollout with neither a reset nor a call. A rollout without an end is played up to its last
   line. If no tools were recorded, as in many imports, the called tools are offered. Call
   recorded_release in every case. */
MUST_USE int recorded_read(const char *path, struct recorded *out, struct error *err);
void recorded_release(struct recorded *r); /* zeroed is fine */

/* The key of a call, from its decoded name and canonical arguments. */
uint64_t recorded_key(struct str name, struct str arguments);

#endif
