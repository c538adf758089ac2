/* Fault fallback-session: the proxy that could not tell its clients apart. Each call gets
   an environment of its own, which nobody gives back; what the client asks the control
   plane for is another one, which never moves. */
#include "serve/fault.h"

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
	gym_env_reset(g, &g->nobodys, NULL);
	c->env = &g->nobodys;
}

const struct fault_hooks fault_fallback_session = {.start = sessions_do_not_count,
                                                   .before_call = start_over};
