/* The sessions a probe holds, and what one question to them brought back. What a peer
   does wrong is kept as a fact; -1 is for an interrupt, options that do not fit, and our
   own failures. */
#ifndef ROLLDBG_PROBE_SESSION_H
#define ROLLDBG_PROBE_SESSION_H

#include "env/env.h"

#define SESSION_ID_DIGITS 32

enum session_how {
	SESSION_CLOSED,
	SESSION_OPEN,    /* its own reset was answered */
	SESSION_REFUSED, /* the server answered, and gave none */
	SESSION_LATE,    /* no answer in time */
	SESSION_LOST,    /* nobody there, or nobody who speaks the protocol */
};

/* Events that say something about a property; bits. */
enum session_event {
	SAW_REPLACED = 1,      /* the session, or its id */
	SAW_OTHER_EPISODE = 2, /* an episode that nobody of us asked for */
	SAW_OUR_EPISODE = 4,   /* the episode of another session of ours */
	SAW_SOURCE_LOST = 8,   /* the state source speaks for somebody else */
	SAW_BARE_STATE = 16,   /* it holds nothing but bookkeeping */
};

/* The state at one moment. */
struct moment {
	bool known; /* both hashes leave out clocks and made-up ids */
	char hash[HASH_HEX + 1];
	char whole[HASH_HEX + 1]; /* drawings included: a map may be in one of them */
	struct buf json;          /* empty when it is too large to be shown */
};

struct answer {
	enum outcome outcome;
	enum error_class class;
	enum error_layer layer;
	int64_t env_steps;  /* -1 unknown */
	bool over;          /* terminated or truncated */
	bool other_session; /* the reply named a session that is not ours */
	bool has_observation;
	char observation[HASH_HEX + 1]; /* its hash */
	bool shows; /* it holds something that the state holds too: what it says there */
	char shown[HASH_HEX + 1];
	char message[200], code[48]; /* cut */
	char named[80];              /* the session that the reply named */
};

struct session {
	struct env_conf conf; /* the env borrows it: a session stays where it is */
	char id[SESSION_ID_DIGITS + 1];
	struct env *env;
	enum session_how how;
	struct answer last; /* the last answer, or why there was none */
	unsigned saw;
	char ids[2][80];  /* of the transport session, and of the environment's */
	char unread[200]; /* why the state could not be read, the first time; cut */
	struct moment start, later;
};

/* Shortest, middle and longest time of one kind of question. */
struct timings {
	uint64_t *us;
	size_t count;
};

struct asking {
	const struct env_ops *ops;
	const struct env_conf *conf;
	struct io *io;
	struct hasher *hasher;
	struct json_paths *unsaid; /* what is no part of `whole` */
	struct buf scratch, masked;
	struct session *all; /* ours, to tell episodes apart */
	size_t all_count;
	struct timings open, reset, step;
	struct error lost; /* nobody was there, the last time that one was opened */
};

/* What is zeroed of a is filled in; ops, conf and io stand. FAIL_USAGE: --ignore. */
MUST_USE int asking_init(struct asking *a, struct error *err);
void asking_release(struct asking *a);
void timings_add(struct timings *t, uint64_t us);
uint64_t timings_longest_ms(const struct timings *t); /* 0 without any */

/* Opens and resets; how it went stands in s->how and s->last. seed NULL: as asking.conf
   says. s is zeroed or was closed. */
MUST_USE int session_open(struct asking *a, struct session *s, const int64_t *seed,
                          struct error *err);
/* A reset within the session, with that seed. */
MUST_USE int session_reset(struct asking *a, struct session *s, int64_t seed,
                           struct error *err);
MUST_USE int session_step(struct asking *a, struct session *s, struct str name,
                          struct str arguments, struct answer *out, struct error *err);
/* The state now. */
MUST_USE int session_look(struct asking *a, struct session *s, struct moment *out,
                          struct error *err);
const struct env_facts *session_facts(const struct session *s);
bool session_is_open(const struct session *s);
/* Says goodbye; what is known stays. Closed already is fine. */
void session_close(struct session *s);
void session_release(struct session *s);

/* "Server at capacity (websocket, CAPACITY_REACHED)" */
void answer_say(const struct answer *r, struct buf *out);

#endif
