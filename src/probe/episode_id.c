/* The environment goes by the id it was given, so that its logs and ours can be laid side
   by side. */
#include "probe/inside.h"

static size_t count_ours(const struct probe *p)
{
	size_t n = 0;

	for (size_t i = 0; i < p->opened; i++) {
		n += !strcmp(p->sessions[i].ids[1], p->sessions[i].id);
	}
	return n;
}

static bool one_for_all(const struct probe *p)
{
	for (size_t i = 1; i < p->opened; i++) {
		if (strcmp(p->sessions[i].ids[1], p->sessions[0].ids[1]) != 0) {
			return false;
		}
	}
	return p->opened > 1;
}

/* The state tells, where it holds the id. */
static bool names_none(const struct probe *p)
{
	struct str state = buf_view(&p->sessions[0].start.json);
	struct json_member m;
	size_t cursor = 0;

	while (probe_is_openenv(p) && json_type(state) == JSON_OBJECT &&
	       json_next_member(state, &cursor, &m)) {
		if (str_is(m.key, "episode_id")) {
			return m.type == JSON_NULL;
		}
	}
	return !p->sessions[0].ids[1][0];
}

static int examine(struct probe *p, struct property *out, struct error *err)
{
	(void)err;
	if (!p->opened) {
		property_judge(out, PROPERTY_UNKNOWN, "not seen");
		property_saw(out, "%s", p->no_acts);
	} else if (!strcmp(p->protocol, "mcp")) {
		property_judge(out, PROPERTY_SKIPPED, "no episodes");
		property_saw(out, "plain MCP knows none");
	} else if (names_none(p)) {
		property_judge(out, PROPERTY_UNKNOWN, "none");
		property_saw(out, "the environment names no episode");
	} else if (count_ours(p) == p->opened) {
		property_judge(out, PROPERTY_OK, "ours");
	} else if (one_for_all(p)) {
		property_judge(out, PROPERTY_UNKNOWN, "one for all");
		property_saw(out, "every session is in %s", p->sessions[0].ids[1]);
	} else {
		property_judge(out, PROPERTY_OK, "its own");
		property_saw(out, "the environment names its episodes itself, such as %s",
		             p->sessions[0].ids[1]);
	}
	return 0;
}

const struct property_ops property_episode_id = {examine};
