/* Fault hang: the call is taken, the connection stays open, and nothing ever comes.
   Ending the session ends the wait. */
#include "serve/fault/hooks.h"

static void no_end(uint64_t *wait_ms)
{
	*wait_ms = WAIT_FOREVER;
}

const struct fault_hooks fault_hang = {.wait = no_end};
