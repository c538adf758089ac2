/* Fault seed-ignored: no two episodes are alike, whatever seed they were asked to have.
 */
#include "serve/fault/hooks.h"

static void ignore(struct openenv *o)
{
	o->ignores_seeds = true;
}

const struct fault_hooks fault_seed_ignored = {.openenv_start = ignore};
