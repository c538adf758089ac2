/* OpenEnv over plain HTTP, without a session: see openenv.h. */
#include "env/openenv/openenv.h"

extern const struct env_ops env_openenv_http;

static int http_open(const struct env_conf *conf, struct io *io, struct env **out,
                     struct env_reply *refusal, struct error *err)
{
	struct env_openenv *e = openenv_new(&env_openenv_http, conf, io);
	bool known;

	*out = &e->http.base;
	if (state_source_parse(conf->state_spec, &e->http.source, err) ||
	    openenv_describe(e, &known, err)) {
		return -1;
	}
	if (!known) {
		return error_set(err, FAIL_PROTOCOL, "%s: not an OpenEnv server; check the URL",
		                 buf_cstr(&e->http.http.base));
	}
	openenv_note(e, EVENT_NOTIFICATION, "session",
	             STR("plain HTTP has no sessions: each request runs in a new environment, "
	                 "or in one that all clients share"));
	e->http.base.facts.traits.no_sessions =
		"over plain HTTP each request runs in a new environment, or in one "
		"that all clients share";
	e->http.base.facts.traits.no_sessions_fix =
		"use the server's WebSocket: omit \1protocol\2 openenv-http";
	return openenv_learn_facts(e, err);
}

const struct env_ops env_openenv_http = {
	.name = "openenv-http",
	.help = "OpenEnv over plain HTTP, without sessions",
	.protocols = (const char *const[]){"openenv-http", NULL},
	.limit_fix = OPENENV_LIMIT_FIX,
	.open = http_open,
	.reset = openenv_reset,
	.state = openenv_state,
	.step = openenv_step,
	.close = openenv_close,
};
