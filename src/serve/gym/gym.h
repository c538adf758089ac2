/* What an MCP-Gym server remembers: its environments, the transports that speak for them,
   and the limit on the former. Used from the server's one thread, `steps` excepted.

   Two ids that travel under one header name are kept apart here. A transport is what
   initialize made (its id is ours); an environment bears the id its client chose
   (`_extra.session_id`), or its transport's id when the client chose none. Transports
   that chose the same id share an environment.

   The limit is honest: initialize reserves the room of the environment it names, or is
   refused at once, so that nobody holds a session that can do nothing; the last transport
   that ends gives the room back. (The faults `capacity` and `fallback-session` break
   exactly this.) An environment that only the control plane was asked for has no
   transport to end it: it gives way when room is needed. */
#ifndef ROLLDBG_SERVE_GYM_GYM_H
#define ROLLDBG_SERVE_GYM_GYM_H

#include "base/map.h"
#include "serve/serve.h"
#include "serve/world/world.h"

#include <stdatomic.h>

struct played;

#define TRANSPORT_ID   32
#define ENV_ID_MAX     1024
#define TRANSPORTS_MAX 65536

struct gym_env {
	struct map_item item;
	struct str id;
	uint64_t serial; /* order of creation; used as the seed if none was given */
	unsigned transports;
	bool refused;          /* beyond the limit: it can be looked at, and never moves */
	bool counted;          /* takes one of max_envs */
	void *place;           /* the world's memory; NULL until its first state or step */
	struct played *played; /* what a server that plays a recording has instead */
	/* The control plane. */
	uint64_t step_count;
	int64_t total_reward;
	int reward;
	bool terminated;
};

struct transport {
	struct map_item item;
	struct str stem; /* of its names: see gym_transport */
	char id[TRANSPORT_ID + 1];
	char shown[TRANSPORT_ID + 1]; /* its id in replies: the id, except under session-churn */
	struct gym_env *env;
	uint64_t calls;
};

/* What happens to the session beyond the limit. */
enum when_full {
	FULL_REFUSE,  /* no session */
	FULL_PHANTOM, /* a session whose environment never moves */
	FULL_NEVER,   /* sessions do not count */
};

struct gym {
	struct serve_conf conf;
	struct map envs, transports;
	uint64_t serial;
	uint64_t taken; /* of conf.max_envs */
	/* Set by faults when the server starts. */
	enum when_full when_full;
	bool keeps_room; /* what is taken is never given back */
	int step_reward; /* on top of the world's own */
	uint64_t ids_made_up;
	struct gym_env
		/* of calls that belong to no session (fault fallback-session) */
		unowned;
	_Atomic uint64_t steps; /* executed, over all sessions */
};

void gym_init(struct gym *g, const struct serve_conf *c);
void gym_release(struct gym *g);

/* The environment of that id; absent id: NULL. */
struct gym_env *gym_env(const struct gym *g, struct str id);
/* The same, made when there is none. NULL: no room, or the id is longer than ENV_ID_MAX.
 */
struct gym_env *gym_env_open(struct gym *g, struct str id);
/* A new episode in it, or its first; seed NULL: one of its own. */
void gym_env_reset(struct gym *g, struct gym_env *e, const uint64_t *seed);
/* One call in its world, which begins an episode where there is none yet; counted as a
   step unless it is refused. */
void gym_env_act(struct gym *g, struct gym_env *e, struct act *a);

struct transport *gym_transport(const struct gym *g, struct str id);
/* A new one. env_id absent: the environment is named after the transport. NULL: no room.
 */
struct transport *gym_transport_open(struct gym *g, struct str env_id);
/* Belongs to another environment from now on (a second initialize). False: no capacity, nothing
   changed. */
MUST_USE bool gym_transport_move(struct gym *g, struct transport *t, struct str env_id);
/* Its replies carry another id from now on; the first one stays valid. */
void gym_transport_rename(struct transport *t);
void gym_transport_close(struct gym *g, struct transport *t);

/* 32 hex digits, as transports are named; also for the dead ids that refusals carry. */
void gym_mint(char id[TRANSPORT_ID + 1]);

#endif
