/* Fault drop-iserror: errors are returned without isError: only the text shows them. */
#include "serve/fault/hooks.h"

static void fail(struct gym *g, struct call *c)
{
	(void)g;
	fault_every_second(c);
}

static void hide(struct gym *g, struct call *c)
{
	(void)g;
	c->world_call.is_error = false;
}

const struct fault_hooks fault_drop_iserror = {.before_call = fail, .after_call = hide};
