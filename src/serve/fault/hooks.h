/* Everything a fault's file needs: the hooks, their argument types, and code shared by several
   faults. */
#ifndef ROLLDBG_SERVE_FAULT_HOOKS_H
#define ROLLDBG_SERVE_FAULT_HOOKS_H

#include "serve/fault/fault.h"
#include "serve/gym/call.h"
#include "serve/gym/exchange.h"
#include "serve/openenv/openenv.h"

/* The broken proxy's exact response (whitespace included), with a made-up session id and without
   isError. */
void fault_capacity_text(struct gym *g, struct call *c);
/* Every second call of a transport, starting with the second, fails without effect. */
void fault_every_second(struct call *c);

#endif
