/* The setting ask-state, on a client's WebSocket: a question of ours goes out when the reply to the client's last message has come, and that
   reply is held until ours has. So the next data message of the server is the answer, which does not reach the client. */
#ifndef ROLLDBG_TAP_ASK_STATE_H
#define ROLLDBG_TAP_ASK_STATE_H

#include "base/buf.h"

/* One connection; zeroed before its first use. */
struct ask_state {
	bool awaited; /* the answer; what follows it begins with a frame */
	/* of the present frame: */
	char head[10];
	size_t have; /* bytes of the head */
	uint64_t left;
	bool control, fin;
};

/* Appends the question as a frame of the client. */
void ask_state_put(struct ask_state *a, struct str question, struct buf *out);
/* Appends the server's bytes without the answer. True: it is complete. */
bool ask_state_filter(struct ask_state *a, struct str bytes, struct buf *out);

#endif
