/* Fault capacity: sessions leak their room. The ones beyond the limit open without
   complaint, show a state that never moves, and answer every call with an error that only
   its text tells. */
#include "serve/fault.h"

#include <inttypes.h>

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

static void open_all(struct openenv *o)
{
	o->always_opens = true;
	o->keeps_room = true;
}

/* An observation like any other, but for what it says. */
static void refuse_step(struct turn *t)
{
	if (t->kind == TURN_STEP && t->session->refused) {
		buf_printf(&t->reply->text,
		           "{\"type\":\"observation\",\"data\":{\"observation\":{"
		           "\"metadata\":{},\"error\":\"Maximum concurrent environments "
		           "(%" PRIu64 ") reached\"},\"reward\":null,\"done\":false}}",
		           t->session->server->conf.max_envs);
		t->done = true;
	}
}

const struct fault_hooks fault_capacity = {.start = leak,
                                           .before_call = refuse,
                                           .openenv_start = open_all,
                                           .before_turn = refuse_step};
