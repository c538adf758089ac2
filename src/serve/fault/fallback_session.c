/* Fault fallback-session: a proxy that cannot distinguish its clients. Each call gets its own
   environment, which is never freed; the control plane shows another one, which never changes. */
#include "serve/fault/hooks.h"

static void sessions_do_not_count(struct gym *g)
{
	g->when_full = FULL_NEVER;
}

static void start_over(struct gym *g, struct call *c)
{
	if (g->taken >= g->conf.max_envs) {
		fault_capacity_text(g, c);
		return;
	}
	g->taken++;
	g->ids_made_up++;
	gym_env_reset(g, &g->unowned, NULL);
	c->env = &g->unowned;
}

const struct fault_hooks fault_fallback_session = {.start = sessions_do_not_count,
                                                   .before_call = start_over};
