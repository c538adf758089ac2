/* The table of environment protocols and the choice among them. */
#include "env/env.h"

#include "base/text.h"

#define ENV(id) extern const struct env_ops env_##id;
#include "env/envs.def"
#undef ENV

const struct env_ops *const environments[] = {
#define ENV(id) &env_##id,
#include "env/envs.def"
#undef ENV
};
const size_t environments_count = ARRAY_LEN(environments);

static const struct {
	const char *name;
	const struct env_ops *ops;
} protocols[] = {
	{"mcp", &env_mcp},
	{"mcp-gym", &env_mcp}, /* mcp that must have a control plane */
	{"openenv", &env_openenv},
	{"openenv-http", &env_openenv_http},
};

static const struct env_ops *by_name(const char *protocol, struct error *err)
{
	const char *names[ARRAY_LEN(protocols)];
	struct buf end = BUF(BUF_MAX_SMALL);

	for (size_t i = 0; i < ARRAY_LEN(protocols); i++) {
		if (!strcmp(protocol, protocols[i].name)) {
			return protocols[i].ops;
		}
		names[i] = protocols[i].name;
	}
	text_suggest(&end, str_from(protocol), names, ARRAY_LEN(names));
	error_set(err, FAIL_USAGE, "unknown protocol '%s'%s", protocol, buf_cstr(&end));
	buf_release(&end);
	return NULL;
}

static const struct env_ops *by_url(const struct env_conf *conf, struct io *io)
{
	const struct env_ops *may_be = NULL;

	for (size_t i = 0; i < environments_count; i++) {
		if (environments[i]->claims(conf->url) > 1) {
			return environments[i];
		}
	}
	for (size_t i = 0; i < environments_count; i++) {
		const struct env_ops *e = environments[i];

		if (!e->claims(conf->url)) {
			continue;
		}
		if (e->recognizes && e->recognizes(conf, io)) {
			return e;
		}
		may_be = e->recognizes ? may_be : e;
	}
	return may_be;
}

/* A URL is one for whatever --protocol says; a command only where it is understood. */
static bool is_place(const char *url, const struct env_ops *found)
{
	return str_starts(str_from(url), STR("stdio:")) ? found->claims(url) > 0
	                                                : strstr(url, "://") != NULL;
}

const struct env_ops *env_find(const struct env_conf *conf, struct io *io,
                               struct error *err)
{
	const struct env_ops *found =
		conf->protocol ? by_name(conf->protocol, err) : by_url(conf, io);
	bool any = found && is_place(conf->url, found);

	if (!any && (found || !conf->protocol)) {
		error_set(err, FAIL_USAGE,
		          "'%s' is not an environment that rolldbg can reach: use "
		          "http://HOST:PORT/mcp, ws://HOST:PORT, https://.., "
		          "stdio:COMMAND for an MCP server, or "
		          "builtin:frozen_lake",
		          conf->url);
	}
	if (any && conf->era && found != &env_mcp) {
		error_set(err, FAIL_USAGE, "--era %s: '%s' speaks no MCP, but %s",
		          conf->era, conf->url, found->name);
		return NULL;
	}
	return any ? found : NULL;
}
