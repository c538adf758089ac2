/* A recording as the environment: which rollout a session gets, which recorded call answers which
   call, and what the state is then. Without any protocol: mcp.h and openenv/ are the protocols. */
#ifndef ROLLDBG_SERVE_PLAYBACK_PLAYBACK_H
#define ROLLDBG_SERVE_PLAYBACK_PLAYBACK_H

#include "base/buf.h"
#include "serve/playback/recorded.h"

/* Which recorded call answers a call. */
enum playback_match {
	MATCH_EXACT, /* the next one, if tool and arguments are its own */
	MATCH_ARGUMENTS, /* the next one anywhere with the same tool and arguments, else an earlier one */
	MATCH_SEQUENTIAL, /* the next one, whatever is called */
};
extern const char *const playback_matches[]; /* by enum playback_match */

struct playback_conf {
	const char *path;
	enum playback_match match;
	bool loop; /* once all rollouts have been played, they are played again */
};

struct playback {
	struct recorded recorded;
	enum playback_match match;
	bool loop;
	size_t spent; /* no rollout before this one is free */
};

/* FAIL_INPUT: as recorded_read. */
MUST_USE int playback_new(const struct playback_conf *conf, struct playback **out,
                          struct error *err);
void playback_free(struct playback *p); /* NULL is fine */

/* What the server calls itself and offers: taken from the first rollout that had a session. */
const struct recorded_rollout *playback_sample(const struct playback *p);

/* ---- sessions: of one thread ---- */

/* What a session asks for; absent and false: anything. */
struct playback_wish {
	bool has_seed;
	int64_t seed;
	struct str reset_args; /* raw object */
};

/* One session. */
struct played {
	struct playback *all;
	struct recorded_rollout *rollout;
	size_t next;                      /* call */
	const struct recorded_call *last; /* the one that answered last; NULL: none yet */
	double rewards;                   /* of the calls so far */
	uint64_t state_key;               /* of the call that reads states; 0: not known yet */
	bool state_read;                  /* since the last call */
	bool wished;                      /* it asked for a seed, or was reset */
	bool fresh;                       /* nobody has looked at the state since the reset */
};

/* The next rollout that nobody has played, of those with the wished seed if any has one. NULL: there
   is none, and *why says so. */
struct played *playback_begin(struct playback *p, const struct playback_wish *wish,
                              struct buf *why);
/* Starts over: with another rollout if the wish is for another seed. False, nothing changed: there
   is none. */
MUST_USE bool playback_reset(struct played *s, const struct playback_wish *wish, struct buf *why);
void playback_end(struct played *s); /* NULL is fine */

/* The recorded call that answers this one; NULL: none, *why shows the nearest, and the session stays
   where it is. name: decoded; arguments: raw JSON. */
const struct recorded_call *playback_call(struct played *s, struct str name, struct str arguments,
                                          struct buf *why);
/* Is this call no step but a reading of the state, by a tool that the recording does not name? Such a
   session reads before its first call, and once between two calls. */
bool playback_reads_state(struct played *s, struct str name, struct str arguments);

/* The state now; absent: not recorded. */
struct str playback_state(const struct played *s);
/* The environment's own count of steps now. */
int64_t playback_steps(const struct played *s);
/* Appends the total reward so far, a JSON number. */
void playback_total(const struct played *s, struct buf *out);
/* The answer that says how the episode stands: that to the last call, or to the reset. */
const struct recorded_reply *playback_last(const struct played *s);

#endif
