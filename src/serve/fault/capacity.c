/* Fault capacity: sessions never free their slots. Those beyond the limit open successfully,
   have a state that never changes, and answer every call with an error that only its text
   reveals. */
#include "serve/fault/hooks.h"

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

/* A regular observation, except for its text. */
static void refuse_step(struct turn *t)
{
	if (t->kind == TURN_STEP && t->session->refused) {
		buf_printf(
			&t->reply->text,
			"{\"type\":\"observation\",\"data\":{\"observation\":{\"metadata\":{},\"error\":\"Maximum "
			"concurrent environments (%" PRIu64
			") reached\"},\"reward\":null,\"done\":false}}",
			t->session->server->conf.max_envs);
		t->done = true;
	}
}

const struct fault_hooks fault_capacity = {.start = leak,
                                           .before_call = refuse,
                                           .openenv_start = open_all,
                                           .before_turn = refuse_step};
