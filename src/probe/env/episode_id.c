/* The environment uses the requested episode id, so that its logs match the recording. */
#include "probe/probe_internal.h"

static size_t count_requested(const struct probe *p)
{
	size_t n = 0;

	for (size_t i = 0; i < p->opened; i++)
		n += !strcmp(p->sessions[i].ids[1], p->sessions[i].id);
	return n;
}

static bool is_same_for_all(const struct probe *p)
{
	for (size_t i = 1; i < p->opened; i++)
		if (strcmp(p->sessions[i].ids[1], p->sessions[0].ids[1]) != 0)
			return false;
	return p->opened > 1;
}

/* An OpenEnv state may contain the id; null means there is none. */
static bool reports_null(const struct probe *p)
{
	struct str state = buf_view(&p->sessions[0].start.json);
	struct json_member m;
	size_t cursor = 0;

	while (p->traits.has_episode_id && json_type(state) == JSON_OBJECT &&
	       json_next_member(state, &cursor, &m)) {
		if (str_is(m.key, "episode_id"))
			return m.type == JSON_NULL;
	}
	return !p->sessions[0].ids[1][0];
}

static int examine(struct probe *p, struct property *out, struct error *err)
{
	(void)err;
	if (!p->opened) {
		property_judge(out, PROPERTY_UNKNOWN, "not seen");
		property_evidence(out, "%s", p->not_called);
	} else if (!p->traits.has_episodes) {
		property_judge(out, PROPERTY_SKIPPED, "no episodes");
		property_evidence(out, "plain MCP has no episodes");
	} else if (reports_null(p)) {
		property_judge(out, PROPERTY_UNKNOWN, "none");
		property_evidence(out, "the environment reports no episode id");
	} else if (count_requested(p) == p->opened) {
		property_judge(out, PROPERTY_OK, "the server used the requested id");
	} else if (is_same_for_all(p)) {
		property_judge(out, PROPERTY_UNKNOWN, "the same for all sessions");
		property_evidence(out, "every session reports %s", p->sessions[0].ids[1]);
	} else {
		property_judge(out, PROPERTY_OK, "assigned by the server");
		property_evidence(out, "the environment assigns its own ids, such as %s",
		                  p->sessions[0].ids[1]);
	}
	return 0;
}

const struct property_ops property_episode_id = {examine};
