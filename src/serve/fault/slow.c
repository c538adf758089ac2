/* Fault slow: each call is delayed. Other sessions are served meanwhile. */
#include "serve/fault/hooks.h"

#define DEFAULT_MS 1000

static void at_least(uint64_t *wait_ms)
{
	if (*wait_ms == 0) {
		*wait_ms = DEFAULT_MS;
	}
}

const struct fault_hooks fault_slow = {.wait = at_least};
