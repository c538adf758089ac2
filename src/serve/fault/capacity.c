/* Fault capacity: sessions leak their room. The ones beyond the limit open without
   complaint, show a lake on the control plane that never moves, and answer every call
   with an error that only its text tells. */
#include "serve/fault.h"

static void leak(struct gym *g)
{
	g->when_full = FULL_PHANTOM;
	g->keeps_room = true;
}

static void refuse(struct gym *g, struct call *c)
{
	if (c->env->refused) {
		fault_capacity_text(g, c);
	}
}

const struct fault_hooks fault_capacity = {.start = leak, .before_call = refuse};
