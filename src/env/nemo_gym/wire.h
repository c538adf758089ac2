/* The directory env/nemo_gym/: the adapter of NeMo Gym's resources servers: exchanges with their
   cookie, replies, the description of the server, episodes. JSON over HTTP is in env/http_json.h. */

/* Requests to a resources server. The session is a signed cookie, which the server signs anew in
   each reply; a request without a valid one gets a new session, and no error. */
#ifndef ROLLDBG_ENV_NEMO_GYM_WIRE_H
#define ROLLDBG_ENV_NEMO_GYM_WIRE_H

#include "env/http_json.h"

struct nemo_gym_wire {
	struct http_json *http; /* its session is the cookie */
	struct buf session;     /* the id in the cookie; empty: none */
	struct buf before;      /* the id in the one that was sent with the last request */
	bool replaced;          /* the last reply named another session than the request */
};

void nemo_gym_wire_init(struct nemo_gym_wire *w, struct http_json *http);
void nemo_gym_wire_release(struct nemo_gym_wire *w);
/* Without a cookie, the next request gets a new session. */
void nemo_gym_forget(struct nemo_gym_wire *w);

/* POST path, sent once. -1: interrupted, or a local failure. */
MUST_USE int nemo_gym_post(struct nemo_gym_wire *w, const char *path, struct str body,
                           struct http_json_answer *out, struct error *err);

/* Sets `out` to the session's id in a cookie "NAME=base64 of JSON.time.signature"; false if it
   has none. */
bool nemo_gym_session_id(struct str cookie, struct buf *out);

#endif
