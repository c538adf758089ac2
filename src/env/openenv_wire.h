/* Question and answer with an OpenEnv server: over its WebSocket (one connection is one
   session, one environment), or over plain HTTP. Knows the envelopes, nothing of what is
   in them. */
#ifndef ROLLDBG_ENV_OPENENV_WIRE_H
#define ROLLDBG_ENV_OPENENV_WIRE_H

#include "env/env.h"
#include "net/websocket.h"
#include "trajectory/events.h"

enum openenv_ask { OPENENV_RESET, OPENENV_STEP, OPENENV_STATE, OPENENV_MCP };

enum openenv_got {
	OPENENV_ANSWER,   /* data is what was asked for */
	OPENENV_ERROR,    /* an error frame: data is its `data` */
	OPENENV_STATUS,   /* HTTP: code and text; or the handshake was declined so */
	OPENENV_NOT_JSON, /* text is no JSON object of the protocol */
	OPENENV_STRAY,    /* data is a reply of another type: replies are out of step */
	OPENENV_ENDED,    /* the connection ended first: end, code and text */
	OPENENV_NOBODY,   /* plain HTTP: nobody answered */
	OPENENV_LATE,     /* no answer in time */
};

/* Slices live until the next question. */
struct openenv_answer {
	enum openenv_got got;
	enum websocket_end end;
	int code; /* of a Close frame or an HTTP status; 0: none */
	struct str data;
	struct str text;         /* a sentence, or the body */
	struct json_fault fault; /* of OPENENV_NOT_JSON; why NULL: JSON of some kind */
};

struct openenv_wire {
	struct io *io;
	const struct env_conf *conf;
	struct event_queue *events;
	struct buf base;      /* "http://host/prefix", without a slash at the end */
	struct buf url;       /* of the WebSocket */
	struct websocket *ws; /* NULL: plain HTTP */
	const char **headers; /* the user's, and a content type */
	struct buf request, reply, path, why;
	bool gone;        /* nothing can be asked any more: why */
	bool state_asked; /* already, with the last question */
};

void openenv_wire_init(struct openenv_wire *w, const struct env_conf *conf, struct io *io,
                       struct event_queue *events);
/* Says goodbye, for a short time at most. */
void openenv_wire_release(struct openenv_wire *w);

/* Opens the session. 0: it is open, or out says how the handshake was declined
   (OPENENV_STATUS). -1: as websocket_open. */
MUST_USE int openenv_connect(struct openenv_wire *w, struct openenv_answer *out,
                             struct error *err);

/* Asks once, never again. data: raw JSON object, what a reset, an action or a JSON-RPC
   request says. After OPENENV_STRAY, ENDED, LATE and errors that close the session the
   wire is gone: a late answer can never be taken for the next one. -1: interrupted, or
   ours. */
MUST_USE int openenv_ask(struct openenv_wire *w, enum openenv_ask what, struct str data,
                         struct openenv_answer *out, struct error *err);

/* As openenv_ask. Over a WebSocket the state is asked for in the same breath: one packet,
   one waking of the server. Unless the wire is gone, the next question must be
   OPENENV_STATE, and gets that answer. */
MUST_USE int openenv_ask_and_state(struct openenv_wire *w, enum openenv_ask what,
                                   struct str data, struct openenv_answer *out,
                                   struct error *err);

/* GET base + path. *status 0: nobody answered. body: valid JSON, else absent. */
MUST_USE int openenv_get(struct openenv_wire *w, const char *path, int *status,
                         struct str *body, struct error *err);

#endif
