/* Fault hang: the call is accepted, the connection stays open, and no reply is sent. Ending the
   session ends the wait. */
#include "serve/fault/hooks.h"

static void wait_forever(uint64_t *wait_ms)
{
	*wait_ms = WAIT_FOREVER;
}

const struct fault_hooks fault_hang = {.wait = wait_forever};
