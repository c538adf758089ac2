/* One tool call, independent of the protocol. Faults may change it before and after the world
   executes it. */
#ifndef ROLLDBG_SERVE_GYM_CALL_H
#define ROLLDBG_SERVE_GYM_CALL_H

#include "serve/gym/gym.h"

struct call {
	struct transport *transport;
	struct gym_env *env;          /* the environment the call runs in */
	struct world_call world_call; /* request and result */
	bool done;                    /* the result is final: no step is executed */
	bool close;                   /* close the connection instead of replying */
};

/* The offered tools, a raw JSON array; empty under the fault `no-tools`. */
struct str call_tools(const struct gym *g);
/* tool, arguments: see struct world_call. Fills *c; free with call_release. */
void call_execute(struct gym *g, struct transport *t, struct str tool, struct str arguments,
                  struct call *c);
void call_release(struct call *c);

#endif
