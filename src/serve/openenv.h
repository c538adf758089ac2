/* The built-in environment as an OpenEnv server, without sockets: sessions and the room
   there is for them, and what is answered to a message of /ws (openenv.c) and to an HTTP
   request (openenv_http.c). Answers are worded as openenv 0.10.0 words them.

   Two threads come here. Sessions belong to the one that serves the WebSockets; HTTP
   requests have environments of their own and are the other's. What both touch is
   atomic. */
#ifndef ROLLDBG_SERVE_OPENENV_H
#define ROLLDBG_SERVE_OPENENV_H

#include "serve/episode.h"
#include "serve/exchange.h"

#include <stdatomic.h>

#define CLOSE_NORMAL 1000

struct openenv {
	struct serve_conf conf;
	_Atomic uint64_t steps;  /* executed, over all sessions */
	_Atomic uint64_t serial; /* stands in for the seed of an episode given none */
	uint64_t taken;          /* of conf.max_envs; the sessions' thread */
};

struct openenv_session {
	struct openenv *server;
	struct episode own, *episode; /* NULL: no session, there was no room */
	char id[37];                  /* a UUID; "": nobody asked for it yet */
};

struct openenv_reply {
	struct buf text;    /* the message to send; empty: none */
	uint64_t wait_ms;   /* nothing was done yet: the message comes again after it */
	int close;          /* with this code, behind the message; 0: go on */
	const char *reason; /* of the Close frame; NULL: none */
};

void openenv_init(struct openenv *o, const struct serve_conf *c);

/* A connection stands. Without room the reply says so unasked, and closes. id: of the
   session it asks for in its URL; empty or absent: a new one. */
void openenv_open(struct openenv *o, struct openenv_session *s, struct str id,
                  struct openenv_reply *r);
/* waited: it comes again, after the wait that a reply asked for. */
void openenv_hear(struct openenv_session *s, struct str message, bool binary, bool waited,
                  struct openenv_reply *r);
void openenv_leave(struct openenv_session *s); /* zeroed and twice are fine */

/* An HTTP request; a WebSocket's is answered with ACT_UPGRADE. */
void openenv_answer(struct openenv *o, const struct request *q, struct reply *r);

/* ---- shared by the files of this protocol ---- */

/* A seed for an episode that was given none. */
uint64_t openenv_own_seed(struct openenv *o);
/* How long a step takes before it acts. */
uint64_t openenv_wait_ms(const struct openenv *o);
/* The JSON-RPC answer to an object that is meant as a request; session_id: of the
   WebSocket it came by, NULL over HTTP. */
void openenv_rpc(struct str request, const char *session_id, struct buf *out);

#endif
