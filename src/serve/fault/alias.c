/* Fault alias: one environment behind all WebSockets: every action or reset affects all of
   them. */
#include "serve/fault/hooks.h"

static void share(struct openenv *o)
{
	o->shares_env = true;
}

const struct fault_hooks fault_alias = {.openenv_start = share};
