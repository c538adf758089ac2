/* The sessions of a probe, and the reply to one request. Errors of the peer are data; -1 is an
   interrupt, invalid options or a local failure. */
#pragma once

#include "env/env.h"

#define SESSION_ID_DIGITS 32

enum session_status {
	SESSION_CLOSED,
	SESSION_OPEN,    /* its reset succeeded */
	SESSION_REFUSED, /* the server replied and refused it */
	SESSION_LATE,    /* no reply before the timeout */
	SESSION_LOST,    /* not reached, or not a server of this protocol */
};

/* Events that matter to a property; bits. */
enum session_event {
	SEEN_REPLACED = 1,       /* the session or its id was replaced */
	SEEN_OTHER_EPISODE = 2,  /* the episode changed to one we did not start */
	SEEN_OUR_EPISODE = 4,    /* the episode changed to that of another of our sessions */
	SEEN_SOURCE_LOST = 8,    /* the state is that of another environment */
	SEEN_BARE_STATE = 16,    /* the state contains only bookkeeping */
	SEEN_UNUSED_SOURCE = 32, /* calls are answered without the state */
};

/* The state at one point in time. */
struct snapshot {
	bool known;
	char hash[HASH_HEX + 1]; /* leaves out times and generated ids */
	struct buf json;
};

struct probe_reply {
	enum outcome outcome;
	enum error_class class;
	enum error_layer layer;
	int64_t env_steps; /* -1 unknown */
	bool over;         /* terminated or truncated */
	bool reward_known;
	double reward;      /* of this step; 0 if it is not known */
	bool other_session; /* the reply named another session than the call's */
	bool has_observation;
	char observation[HASH_HEX + 1]; /* its hash */
	char message[200], code[48];    /* truncated */
	char named[80];                 /* the session that the reply named */
};

struct session {
	struct env_conf conf; /* borrowed by env: a session must not move in memory */
	char id[SESSION_ID_DIGITS + 1];
	struct env *env;
	enum session_status status;
	struct probe_reply last; /* the last reply, or why there was none */
	struct buf observation;  /* of the last reply; empty: none */
	unsigned seen;
	char ids[2][80];  /* of the transport session and of the environment's session */
	char unread[200]; /* why the state could not be read the first time; truncated */
	struct snapshot start, later;
};

/* Durations of one kind of request. */
struct timings {
	uint64_t *us;
	size_t count;
};

struct session_pool {
	const struct env_ops *ops;
	const struct env_conf *conf;
	struct io *io;
	struct json_paths *left_out; /* left out of hashes of states */
	struct buf scratch, masked;
	struct session *all; /* all our sessions, to recognize their episodes */
	size_t all_count;
	struct timings open, reset, step;
	struct error lost; /* the server was not reached at the last opening */
};

/* Fills in everything but ops, conf and io. FAIL_USAGE: an ignored pointer is invalid. */
MUST_USE int session_pool_init(struct session_pool *a, struct error *err);
void session_pool_release(struct session_pool *a);
void timings_add(struct timings *t, uint64_t us);
void timings_sort(struct timings *t);
uint64_t timings_longest_ms(const struct timings *t); /* 0 if there are none */

/* Opens and resets; s->status and s->last hold the result. seed NULL: the one of a->conf. s
   must be zeroed or closed. */
MUST_USE int session_open(struct session_pool *a, struct session *s, const int64_t *seed,
                          struct error *err);
/* The same for a session whose slot should be free: while the server refuses for capacity it is
   asked again until the deadline. */
MUST_USE int session_open_when_free(struct session_pool *a, struct session *s, const int64_t *seed,
                                    uint64_t deadline_ns, struct error *err);
/* Resets within the session, with that seed. */
MUST_USE int session_reset(struct session_pool *a, struct session *s, int64_t seed,
                           struct error *err);
MUST_USE int session_step(struct session_pool *a, struct session *s, struct str name,
                          struct str arguments, struct probe_reply *out, struct error *err);
/* Reads the current state. */
MUST_USE int session_read_state(struct session_pool *a, struct session *s, struct snapshot *out,
                                struct error *err);
const struct env_facts *session_facts(const struct session *s);
bool session_is_open(const struct session *s);
/* Closes the session and keeps its facts. May be closed already. */
void session_close(struct session *s);
void session_release(struct session *s);

/* "Server at capacity (mcp CAPACITY_REACHED)", "Too many open sessions (HTTP 503)" */
void probe_reply_describe(const struct probe_reply *r, struct buf *out);
