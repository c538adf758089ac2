/* Fault leak-slot: a session's slot is never freed, however the session ends. */
#include "serve/fault/hooks.h"

static void keep_slot(struct openenv *o)
{
	o->keeps_slots = true;
}

const struct fault_hooks fault_leak_slot = {.openenv_start = keep_slot};
