/* One tool call, whichever protocol brings it: the faults have their say before and
   after, the environment's world acts. */
#ifndef ROLLDBG_SERVE_GYM_CALL_H
#define ROLLDBG_SERVE_GYM_CALL_H

#include "serve/gym/gym.h"

struct call {
	struct transport *transport;
	struct gym_env *env; /* the one that will act */
	struct act act;      /* what is asked, and what is answered */
	bool done;           /* the answer stands: no step is executed */
	bool close;          /* the connection ends instead of a reply */
};

/* The tools on offer, a raw JSON array; without any under the fault `no-tools`. */
struct str call_tools(const struct gym *g);
/* tool and arguments: see struct act. *c is filled; call_release it. */
void call_execute(struct gym *g, struct transport *t, struct str tool, struct str arguments,
                  struct call *c);
void call_release(struct call *c);

#endif
