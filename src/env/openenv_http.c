/* OpenEnv over plain HTTP, on demand only: there are no sessions, each request reaches a
   new environment, or, up to 0.1, the one that everybody shares. It is driven as it is,
   and judged for it. */
#include "env/openenv.h"

static int http_claims(const char *url)
{
	(void)url;
	return 0;
}

static int http_open(const struct env_conf *conf, struct io *io, struct env **out,
                     struct env_reply *refusal, struct error *err)
{
	struct env_openenv *e = openenv_new(&env_openenv_http, conf, io);
	bool known;

	*out = &e->base;
	*refusal = (struct env_reply){.outcome = OUTCOME_OK, .env_steps = -1};
	if (state_source_parse(conf->state_spec, &e->source, err) ||
	    openenv_describe(e, &known, err)) {
		return -1;
	}
	if (!known) {
		return error_set(err, FAIL_PROTOCOL,
		                 "%s: nothing there speaks of OpenEnv; is the URL right?",
		                 buf_cstr(&e->wire.base));
	}
	openenv_note(e, "notification", "session",
	             STR("plain HTTP has no sessions: each request reaches a new "
	                 "environment, or one that all clients share"));
	return openenv_settle(e, "openenv-http", err);
}

const struct env_ops env_openenv_http = {
	.name = "openenv-http",
	.help = "OpenEnv over plain HTTP, where no session exists",
	.claims = http_claims,
	.open = http_open,
	.reset = openenv_reset,
	.state = openenv_state,
	.step = openenv_step,
	.facts = openenv_facts,
	.event = openenv_event,
	.close = openenv_close,
};
