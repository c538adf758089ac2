/* The setting ask-state: the tap asks an OpenEnv server for the state after each step and reset of the client. The question goes out behind the
   client's message; its reply, which is known by its place among the replies, does not reach the client. */
#ifndef ROLLDBG_TAP_ASK_STATE_H
#define ROLLDBG_TAP_ASK_STATE_H

#include "base/buf.h"

#define ASK_STATE_MAX 16 /* questions without a reply; no more are asked until one comes */

/* One connection; zeroed before its first use. */
struct ask_state {
	uint64_t places[ASK_STATE_MAX]; /* of the replies to be left out, from 1 */
	size_t count;
	uint64_t replies; /* complete messages of the server */
	uint64_t left;    /* of the frame */
	char head[10];
	size_t have; /* bytes of the head */
	bool control, fin;
};

/* Appends the question as a frame of the client. requests: how many messages the client has sent, without
   this one. False: too many are unanswered. */
bool ask_state_put(struct ask_state *a, uint64_t requests, struct buf *out);
/* Appends the server's bytes without the replies to our questions. */
void ask_state_filter(struct ask_state *a, struct str bytes, struct buf *out);

#endif
