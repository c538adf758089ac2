/* Fault fallback-session: a proxy that cannot tell its clients apart. Each call runs in a new
   environment, which is never freed; the control plane shows another one, which never changes. */
#include "serve/fault/hooks.h"

static void disable_limit(struct gym *g)
{
	g->limit_policy = LIMIT_NONE;
}

static void start_over(struct gym *g, struct call *c)
{
	if (g->slots_used >= g->conf.max_envs) {
		fault_capacity_text(g, c);
		return;
	}
	g->slots_used++;
	g->made_up_ids++;
	gym_env_reset(g, &g->unowned, NULL);
	c->env = &g->unowned;
}

const struct fault_hooks fault_fallback_session = {.start = disable_limit,
                                                   .before_call = start_over};
