/* Fault disconnect: the step is executed, and the connection closes before the first byte of
   the response: a client that retries acts twice. */
#include "serve/fault/hooks.h"

static void hang_up(struct gym *g, struct call *c)
{
	(void)g;
	c->close = true;
}

static void hang_up_socket(struct turn *t)
{
	t->reply->hang_up = t->kind == TURN_STEP;
}

const struct fault_hooks fault_disconnect = {.after_call = hang_up, .after_turn = hang_up_socket};
