/* Fault seed-ignored: each episode uses its own seed instead of the requested one. */
#include "serve/fault/hooks.h"

static void ignore(struct openenv *o)
{
	o->ignores_seeds = true;
}

const struct fault_hooks fault_seed_ignored = {.openenv_start = ignore};
