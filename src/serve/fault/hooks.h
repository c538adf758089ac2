/* What the files of faults are written with: the hooks, what they are handed, and what several of
   them do. */
#ifndef ROLLDBG_SERVE_FAULT_HOOKS_H
#define ROLLDBG_SERVE_FAULT_HOOKS_H

#include "serve/fault/fault.h"
#include "serve/gym/call.h"
#include "serve/gym/exchange.h"
#include "serve/openenv/openenv.h"

/* The answer of the broken proxy, down to its blanks, under a session id made up on the
   spot and not marked as an error. */
void fault_capacity_text(struct gym *g, struct call *c);
/* Every second call of a transport, from the second on, fails without acting. */
void fault_every_second(struct call *c);

#endif
