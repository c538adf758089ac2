/* Fault stale-reward: as on the cliff, each move costs 1; as on every MCP-Gym server, a
   call that fails leaves the reward of the one before it to be read again. Here calls do
   fail. */
#include "serve/fault/hooks.h"

static void cost(struct gym *g)
{
	g->step_reward = -1;
}

static void fail(struct gym *g, struct call *c)
{
	(void)g;
	fault_every_second(c);
}

const struct fault_hooks fault_stale_reward = {.start = cost, .before_call = fail};
