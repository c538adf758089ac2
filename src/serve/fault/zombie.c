/* Fault zombie: a session that is idle for too long loses its environment and its room,
   but not its socket. Here the third step comes too late, so that nobody has to wait for
   it: from then on steps are answered, by an environment that is closed. */
#include "serve/fault.h"

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
