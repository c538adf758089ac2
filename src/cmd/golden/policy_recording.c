/* The calls of a recording as policy: see policy_recording.h. */
#include "cmd/golden/policy_recording.h"

#include "cmd/golden/goldens_choice.h"
#include "json/write.h"

#define FIRST ".0" /* ends the id of a task's first rollout */

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
	if (failed || (g->count > 1 && !(o && o->rollout)))
		return failed;
	return goldens_choose(g, NULL, o ? o->rollout : NULL, &g->policy, err) ? -1 : 0;
}

void goldens_as_tasks(const struct goldens *g, struct buf *out)
{
	for (size_t i = 0; !g->policy && i < g->count; i++) {
		const struct golden *one = &g->items[i];
		struct str id = one->want.id;

		id.n -= str_ends(id, STR(FIRST)) ? strlen(FIRST) : 0;
		struct json_writer w = jw_begin(out);
		jw_put_str(&w, "id", id);
		if (one->has_seed)
			jw_put_i64(&w, "seed", one->seed);
		if (one->reset.p)
			jw_put_raw(&w, "reset", one->reset);
		jw_end(&w);
		buf_char(out, '\n');
	}
}

static bool is_rollout_of(const struct golden *one, const struct task *t)
{
	struct str id = one->want.id, task = str_from(t->id);

	return str_eq(id, task) ||
	       (id.n == task.n + strlen(FIRST) && str_starts(id, task) && str_ends(id, STR(FIRST)));
}

struct str goldens_policy_of(const struct goldens *g, const struct task *t)
{
	const struct golden *found = g->policy;

	for (size_t i = 0; t && !found && i < g->count; i++)
		found = is_rollout_of(&g->items[i], t) ? &g->items[i] : NULL;
	for (size_t i = 0; t && !found && i < g->count; i++)
		found = str_is(g->items[i].task, t->id) ? &g->items[i] : NULL;
	return found ? found->calls : STR_NONE;
}
