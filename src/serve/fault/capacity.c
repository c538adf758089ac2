/* Fault capacity: sessions never free their slots. Sessions beyond the limit open successfully,
   but their state never changes, and every call is answered with an error that only the text
   shows. */
#include "serve/fault/hooks.h"

#include <inttypes.h>

static void leak(struct gym *g)
{
	g->limit_policy = LIMIT_PHANTOM;
	g->keeps_slots = true;
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
	o->keeps_slots = true;
}

/* A regular observation, except for its text. */
static void refuse_step(struct openenv_message *t)
{
	if (t->kind == MESSAGE_STEP && t->session->refused) {
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
                                           .before_message = refuse_step};
