/* The directory serve/openenv/: the OpenEnv protocol, server side: messages, episodes. Sockets are
   in host/, the environments are in world/. */

/* The built-in environments as an OpenEnv server, without sockets: sessions, their slots, and the
   replies to messages on /ws (openenv.c) and to HTTP requests (endpoints.c). Forms and codes as
   in openenv 0.10.0; the texts of errors are ours.

   Used by two threads: sessions belong to the WebSocket thread; HTTP requests have their own
   environments and belong to the HTTP thread. Members used by both are atomic. */
#pragma once

#include "serve/gym/gym.h"
#include "serve/openenv/episode.h"

#include <stdatomic.h>

#define CLOSE_NORMAL 1000

struct playback_session;

struct openenv {
	struct serve_conf conf;
	_Atomic uint64_t steps;  /* executed, in all sessions */
	_Atomic uint64_t serial; /* default seed of the next episode */
	uint64_t slots_used;     /* slots in use, of conf.max_envs; WebSocket thread */
	unsigned traits;         /* of enum fault_trait */
	struct openenv_episode shared;
};

struct openenv_session {
	struct openenv *server;
	struct openenv_episode own, *episode; /* NULL: no session, no slot was free */
	struct playback_session *played;      /* when playing a recording; else NULL */
	bool counted;                         /* uses one of conf.max_envs slots */
	bool refused;                         /* beyond the limit: never changes */
	uint64_t steps;                       /* steps answered */
	bool holding;                         /* replies go to `held` */
	struct buf held;                      /* held replies, one per line */
};

struct openenv_reply {
	struct buf late;    /* messages to send first, one per line */
	struct buf text;    /* the message to send; empty: none */
	uint64_t wait_ms;   /* nothing was executed yet: repeat the message after it */
	int close;          /* close with this code after the message; 0: stay open */
	const char *reason; /* of the Close frame; NULL: none */
	bool disconnect;    /* close the connection without a reply */
};

void openenv_init(struct openenv *o, const struct serve_conf *c);
void openenv_release(struct openenv *o);

/* Opens a session for a new connection. Without a free slot the reply is an error and closes it.
   id: session id in the URL; empty or absent: a new session. */
void openenv_open(struct openenv *o, struct openenv_session *s, struct str id,
                  struct openenv_reply *r);
/* Handles a message. waited: repeated after the delay a previous reply requested. */
void openenv_handle_message(struct openenv_session *s, struct str message, bool binary, bool waited,
                            struct openenv_reply *r);
void openenv_session_close(struct openenv_session *s); /* zeroed is fine; may be called twice */

/* Handles an HTTP request; an upgrade to WebSocket is answered with REPLY_UPGRADE. */
void openenv_answer(struct openenv *o, const struct request *q, struct reply *r);

/* ---- shared by the files of this protocol ---- */

enum openenv_message_kind { MESSAGE_STEP, MESSAGE_RESET, MESSAGE_STATE, MESSAGE_OTHER };

/* One message of a session being handled. */
struct openenv_message {
	struct openenv_session *session;
	enum openenv_message_kind kind;
	struct str message, data; /* raw JSON */
	bool waited;
	bool done; /* the reply is final: nothing is executed */
	struct openenv_reply *reply;
};

void openenv_reply_error(struct openenv_reply *r, const char *code, const char *fmt, ...)
	PRINTF_LIKE(3, 4);
/* The default seed of a new episode. */
uint64_t openenv_next_seed(struct openenv *o);
/* Replies to a step or reset with the current observation. */
void openenv_reply_observation(struct openenv_message *t, bool stepped);
/* Frees the session's slot. */
void openenv_free_slot(struct openenv_session *s);
/* ---- validation (endpoints.c), with a description in the form that FastAPI's clients read ---- */

/* Does the object match the schema, as the arguments of a tool do? False: appends
   {"type","loc","msg","input"} about what does not. */
bool fields_fit(struct str object, struct str schema, struct buf *why);
/* The same for the action of a step in that world. */
bool fields_fit_action(const struct world *w, struct str action, struct buf *why);

/* Handles an object as a JSON-RPC request and appends the response. */
void openenv_rpc(const struct openenv *o, struct str request, struct buf *out);

/* ---- playing a recording (playback.c) ---- */

/* Opens a session: assigns a rollout, or refuses and closes. */
void openenv_play_open(struct openenv_session *s, struct openenv_reply *r);
void openenv_play_reset(struct openenv_message *t);
void openenv_play_step(struct openenv_message *t);
void openenv_play_state(struct openenv_message *t);
/* The recorded tools, a raw array; absent: steps are actions, not tool calls. */
struct str openenv_playback_tools(const struct playback_source *p);
/* Appends the response body of /schema. */
void openenv_playback_schema(const struct playback_source *p, struct buf *out);
