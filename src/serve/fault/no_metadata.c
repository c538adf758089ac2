/* Fault no-metadata: what an environment tells beside its observation is lost. */
#include "serve/fault.h"

static void hide(struct openenv *o)
{
	o->hides_metadata = true;
}

const struct fault_hooks fault_no_metadata = {.openenv_start = hide};
