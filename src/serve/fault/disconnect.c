/* Fault disconnect: the step is executed, and the connection closes before the first byte of
   the response: a client that retries acts twice. */
#include "serve/fault/hooks.h"

static void disconnect(struct gym *g, struct call *c)
{
	(void)g;
	c->close = true;
}

static void disconnect_socket(struct openenv_message *t)
{
	t->reply->disconnect = t->kind == MESSAGE_STEP;
}

const struct fault_hooks fault_disconnect = {.after_call = disconnect,
                                             .after_message = disconnect_socket};
