/* The built-in environment as an OpenEnv server, without sockets: sessions and the room
   there is for them, and what is answered to a message of /ws (openenv.c) and to an HTTP
   request (http.c). Answers are worded as openenv 0.10.0 words them.

   Two threads come here. Sessions belong to the one that serves the WebSockets; HTTP
   requests have environments of their own and are the other's. What both touch is
   atomic. */
#ifndef ROLLDBG_SERVE_OPENENV_OPENENV_H
#define ROLLDBG_SERVE_OPENENV_OPENENV_H

#include "serve/gym/exchange.h"
#include "serve/openenv/episode.h"

#include <stdatomic.h>

#define CLOSE_NORMAL 1000

struct played;

struct openenv {
	struct serve_conf conf;
	_Atomic uint64_t steps;  /* executed, over all sessions */
	_Atomic uint64_t serial; /* used as the seed of an episode without one */
	uint64_t taken;          /* of conf.max_envs; the sessions' thread */
	/* Set by faults when the server starts. */
	bool keeps_room;     /* what is taken is never given back */
	bool always_opens;   /* beyond the room, sessions are refused only their steps */
	bool shares;         /* all sessions act in `shared` */
	bool ignores_seeds;  /* each episode has its own */
	bool hides_metadata; /* from all answers */
	struct openenv_episode shared;
};

struct openenv_session {
	struct openenv *server;
	struct openenv_episode own, *episode; /* NULL: no session, there was no room */
	struct played *played;                /* its part of a recording; NULL: there is a world */
	bool counted;                         /* takes one of conf.max_envs */
	bool refused;                         /* beyond the room: it never moves */
	uint64_t steps;                       /* answered */
	bool holding;                         /* answers go to `held` */
	struct buf held;                      /* lines */
	char id[37];                          /* a UUID; "": not requested yet */
};

struct openenv_reply {
	struct buf late;    /* lines: messages to send first */
	struct buf text;    /* the message to send; empty: none */
	uint64_t wait_ms;   /* nothing was done yet: the message comes again after it */
	int close;          /* with this code, behind the message; 0: go on */
	const char *reason; /* of the Close frame; NULL: none */
	bool hang_up;       /* the connection ends without a byte */
};

void openenv_init(struct openenv *o, const struct serve_conf *c);
void openenv_release(struct openenv *o);

/* A connection is open. Without capacity an unsolicited reply says so, and closes. id: of the
   session requested in its URL; empty or absent: a new one. */
void openenv_open(struct openenv *o, struct openenv_session *s, struct str id,
                  struct openenv_reply *r);
/* waited: it is called again after the delay that a reply requested. */
void openenv_hear(struct openenv_session *s, struct str message, bool binary, bool waited,
                  struct openenv_reply *r);
void openenv_leave(struct openenv_session *s); /* zeroed and twice are fine */

/* An HTTP request; a WebSocket's is answered with ACT_UPGRADE. */
void openenv_answer(struct openenv *o, const struct request *q, struct reply *r);

/* ---- shared by the files of this protocol ---- */

enum turn_kind { TURN_STEP, TURN_RESET, TURN_STATE, TURN_OTHER };

/* One message of a session on its way. */
struct turn {
	struct openenv_session *session;
	enum turn_kind kind;
	struct str message, data; /* raw JSON */
	bool waited;
	bool done; /* the reply stands: nothing is executed */
	struct openenv_reply *reply;
};

/* An error message. */
void openenv_say_error(struct openenv_reply *r, struct str message, const char *code);
/* A seed for an episode that was given none. */
uint64_t openenv_own_seed(struct openenv *o);
/* What the environment shows now, as the answer to a step or a reset. */
void openenv_show(struct turn *t, bool stepped);
/* The slot goes to another session. */
void openenv_give_back(struct openenv_session *s);
/* The JSON-RPC answer to an object that is meant as a request; s: the session that asks,
   NULL over HTTP, where each request has an environment of its own. */
void openenv_rpc(struct openenv *o, struct openenv_session *s, struct str request, struct buf *out);

/* ---- where a recording is played (played.c) ---- */

/* A session opens: it gets its rollout, or the reply refuses it and closes. */
void openenv_play_open(struct openenv_session *s, struct openenv_reply *r);
/* Answers a reset, a step or a request for the state. */
void openenv_play(struct turn *t);
/* The recorded tools that steps call: a raw array; absent: a step is one action. */
struct str openenv_played_tools(const struct playback *p);
/* Appends the body of /schema. */
void openenv_played_schema(const struct playback *p, struct buf *out);

#endif
