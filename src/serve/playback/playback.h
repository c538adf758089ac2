/* The directory serve/playback/: recordings as environments and as models. The envelopes of the
   protocols are in gym/ and openenv/. */

/* A recording as an environment: assigns rollouts to sessions, finds the recorded reply to a
   call, and returns the current state. Independent of the protocol: see mcp.h and openenv/. */
#pragma once

#include "base/buf.h"
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
	struct str after;     /* state after the call; absent: not known */
	bool changes_session; /* the reply named another transport session */
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
	struct str first_state, total_reward;
	struct recorded_call *calls; /* those that were sent */
	size_t count;
	/* Set by playback.c. */
	size_t plays;                     /* number of sessions that played it */
	struct playback_session *session; /* the session playing it now; NULL: none */
};

struct recorded {
	struct recorded_rollout **rollouts; /* in the order of their headers */
	size_t count;
	struct map ids;
	struct arena arena;
	bool has_tools; /* recorded for some rollout */
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

#define PLAYBACK_SCRIPT_MAX ((size_t)256 << 20)

struct llm_script;

/* Makes a script (serve/llm/reply_script.h). For a recording of one rollout, replies are chosen by the
   number of assistant messages in the request, so that a repeated request gets the same reply;
   for several rollouts they are used in recorded order. FAIL_INPUT: not a recording, or it has
   no model replies. */
MUST_USE int playback_model(const char *path, struct llm_script *out, struct error *err);

/* How a call is matched with a recorded one. */
enum playback_match {
	MATCH_EXACT,      /* the next recorded call, if tool and arguments are equal */
	MATCH_ARGUMENTS,  /* the next one with equal tool and arguments, else an earlier one */
	MATCH_SEQUENTIAL, /* the next recorded call, whatever is called */
};
extern const char *const playback_matches[]; /* by enum playback_match */

struct playback_conf {
	const char *path;
	enum playback_match match;
	bool loop; /* play rollouts again when all have been played */
};

struct playback_source {
	struct recorded recorded;
	enum playback_match match;
	bool loop;
};

/* FAIL_INPUT: as recorded_read. */
MUST_USE int playback_new(const struct playback_conf *conf, struct playback_source **out,
                          struct error *err);
void playback_free(struct playback_source *p); /* NULL is fine */

/* The rollout that provides the server's name and tools: the first that had a session. */
const struct recorded_rollout *playback_sample(const struct playback_source *p);

/* ---- sessions: used by one thread ---- */

/* What a session asks for; absent or false: anything. */
struct playback_request {
	bool has_seed;
	int64_t seed;
	struct str reset_args; /* raw object */
};

/* One session. */
struct playback_session {
	struct playback_source *all;
	struct recorded_rollout *rollout;
	size_t next;                      /* call */
	const struct recorded_call *last; /* the last call played; NULL: none yet */
	double rewards;                   /* of the calls so far */
	uint64_t state_key;               /* of the call that reads the state; 0: unknown */
	bool state_read;                  /* the state was read since the last call */
	bool made_request;                /* it asked for a seed, or was reset */
	bool state_unread;                /* the state was not read since the reset */
};

/* Assigns the next unused rollout, among those with the requested seed if there are any. NULL:
   none, and *why has the reason. */
struct playback_session *playback_begin(struct playback_source *p,
                                        const struct playback_request *wanted, struct buf *why);
/* Starts over, with another rollout if another seed is requested. False: none is available,
   nothing changed. */
MUST_USE bool playback_reset(struct playback_session *s, const struct playback_request *wanted,
                             struct buf *why);
void playback_end(struct playback_session *s); /* NULL is fine */

/* Returns the recorded call that matches; NULL: none, *why shows the nearest one, and the
   position does not change. name: decoded; arguments: raw JSON. */
const struct recorded_call *playback_call(struct playback_session *s, struct str name,
                                          struct str arguments, struct buf *why);
/* Is this call not a step but a read of the state, by a tool that the recording does not name?
   Such clients read the state before the first call, and once between two calls. */
bool playback_reads_state(struct playback_session *s, struct str name, struct str arguments);

/* The state now; absent: not recorded. */
struct str playback_state(const struct playback_session *s);
/* The environment's own step count. */
int64_t playback_steps(const struct playback_session *s);
/* Appends the total reward so far, as a JSON number. */
void playback_total(const struct playback_session *s, struct buf *out);
/* The last reply, which has the episode's status: to the last call, or to the reset. */
const struct recorded_reply *playback_last(const struct playback_session *s);

/* The state on the control plane: until it was read once, the observation of the reset. Absent:
   not recorded. */
struct str playback_control_state(struct playback_session *s);
