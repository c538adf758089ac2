/* The calls of a recording as policy: see policy_recording.h. */
#include "cmd/golden/policy_recording.h"

#include "cmd/golden/goldens_choice.h"

int goldens_read_policy(struct goldens *g, const char **policy, const struct recorded_options *o,
                        struct error *err)
{
	static const struct opt_list no_masks;
	const char *file = *policy;

	if (!file || !goldens_read_first(file, NULL))
		return 0;
	*policy = NULL;
	char *path = mem_text(str_from(file));
	const struct file_list files = {.paths = &path, .count = 1};
	g->tool_map = o ? &o->tool_map : NULL;
	int failed = goldens_read(g, &files, &no_masks, NULL, err);

	g->path = path;
	if (!failed && !o && g->count > 1) {
		return error_set(err, FAIL_USAGE,
		                 "%s has %zu rollouts, and one is needed: rolldbg convert %s --to "
		                 "rolldbg --rollout %.*s >one.jsonl",
		                 path, g->count, path, STR_ARG(g->items[0].want.id));
	}
	return failed || goldens_choose(g, NULL, o ? o->rollout : NULL, &g->policy, err) ? -1 : 0;
}
