/* Fault no-metadata: metadata next to the observation is left out. */
#include "serve/fault/hooks.h"

static void hide(struct openenv *o)
{
	o->hides_metadata = true;
}

const struct fault_hooks fault_no_metadata = {.openenv_start = hide};
