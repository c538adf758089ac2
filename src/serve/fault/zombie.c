/* Fault zombie: a session that is idle for too long loses its environment and its slot, but not
   its socket. Here the third step counts as too late, so that tests need not wait: from then on
   steps are answered by a closed environment. */
#include "serve/fault/hooks.h"

#define STEPS_BEFORE 2

static void reap(struct turn *t)
{
	struct openenv_session *s = t->session;

	if (t->kind != TURN_STEP || s->steps < STEPS_BEFORE) {
		return;
	}
	openenv_give_back(s);
	s->episode->reward = 0;
	openenv_show(t, true);
	t->done = true;
}

const struct fault_hooks fault_zombie = {.before_turn = reap};
