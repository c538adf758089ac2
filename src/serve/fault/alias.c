/* Fault alias: one environment behind every WebSocket: whoever acts or resets does so for
   all. */
#include "serve/fault.h"

static void share(struct openenv *o)
{
	o->shares = true;
}

const struct fault_hooks fault_alias = {.openenv_start = share};
