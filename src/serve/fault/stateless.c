/* Fault stateless: as over plain HTTP, each request runs in a new environment without a reset,
   which is discarded after the reply. */
#include "serve/fault/hooks.h"

static void start_over(struct openenv_message *t)
{
	struct openenv_session *s = t->session;

	if (t->kind == MESSAGE_STEP || t->kind == MESSAGE_STATE) {
		episode_begin(s->episode, &s->server->conf, openenv_next_seed(s->server), STR_NONE);
	}
}

const struct fault_hooks fault_stateless = {.before_message = start_over};
