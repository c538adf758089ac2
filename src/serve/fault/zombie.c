/* Fault zombie: a session that is idle for too long loses its environment and its slot, but not
   its socket. Here the third step counts as too late, so that tests need not wait: from then on
   steps are answered by a closed environment. */
#include "serve/fault/hooks.h"

#define STEPS_BEFORE 2

static void reap(struct openenv_message *t)
{
	struct openenv_session *s = t->session;

	if (t->kind != MESSAGE_STEP || s->steps < STEPS_BEFORE) {
		return;
	}
	openenv_free_slot(s);
	s->episode->reward = 0;
	openenv_reply_observation(t, true);
	t->done = true;
}

const struct fault_hooks fault_zombie = {.before_message = reap};
