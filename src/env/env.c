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

/* mcp-gym is mcp that must have a control plane. */
static const char *const protocols[] = {"mcp", "mcp-gym"};

static int check_protocol(const char *protocol, struct error *err)
{
	for (size_t i = 0; i < ARRAY_LEN(protocols); i++) {
		if (!strcmp(protocol, protocols[i])) {
			return 0;
		}
	}
	const char *near =
		text_nearest(str_from(protocol), protocols, ARRAY_LEN(protocols));
	return error_set(err, FAIL_USAGE, "unknown protocol '%s'%s%s%s (mcp, mcp-gym)",
	                 protocol, near ? "; did you mean '" : "", near ? near : "",
	                 near ? "'?" : "");
}

const struct env_ops *env_find(const char *url, const char *protocol, struct error *err)
{
	if (protocol && check_protocol(protocol, err)) {
		return NULL;
	}
	for (size_t i = 0; i < environments_count; i++) {
		if (environments[i]->claims(url)) {
			return environments[i];
		}
	}
	error_set(err, FAIL_USAGE,
	          "'%s' is no environment rolldbg can reach: use http://HOST:PORT/mcp, "
	          "https://.., or builtin:frozen_lake",
	          url);
	return NULL;
}
