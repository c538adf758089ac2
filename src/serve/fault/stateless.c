/* Fault stateless: as over plain HTTP, whatever is asked meets an environment that nobody
   has reset, and that is gone with the answer. */
#include "serve/fault.h"

static void start_over(struct turn *t)
{
	struct openenv_session *s = t->session;

	if (t->kind == TURN_STEP || t->kind == TURN_STATE) {
		episode_begin(s->episode, &s->server->conf, openenv_own_seed(s->server),
		              (struct str){0});
	}
}

const struct fault_hooks fault_stateless = {.before_turn = start_over};
