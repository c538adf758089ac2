/* Fault stateless: as over plain HTTP, each request runs in a new environment without a reset,
   which is discarded after the reply. */
#include "serve/fault/hooks.h"

static void start_over(struct turn *t)
{
	struct openenv_session *s = t->session;

	if (t->kind == TURN_STEP || t->kind == TURN_STATE) {
		episode_begin(s->episode, &s->server->conf, openenv_own_seed(s->server), STR_NONE);
	}
}

const struct fault_hooks fault_stateless = {.before_turn = start_over};
