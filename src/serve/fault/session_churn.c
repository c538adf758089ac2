/* Fault session-churn: a session's environment is replaced after every two calls, and replies
   carry another session id from then on. The first id stays valid. */
#include "serve/fault/hooks.h"

static void replace(struct gym *g, struct call *c)
{
	struct transport *t = c->transport;

	if (c->done || t->calls == 0 || t->calls % 2 == 1) {
		return;
	}
	gym_env_reset(g, c->env, NULL);
	gym_transport_rename(t);
}

const struct fault_hooks fault_session_churn = {.before_call = replace};
