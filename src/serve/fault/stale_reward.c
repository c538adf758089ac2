/* Fault stale-reward: each move costs 1, as in CliffWalking. As on every MCP-Gym server, a
   failed call leaves the previous reward in place; this fault also makes calls fail. */
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
