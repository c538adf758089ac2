/* Choosing one of several rollouts, and its calls as policy: see goldens.h. */
#include "cmd/golden/goldens.h"

#include "base/file.h"
#include "base/mem.h"
#include "base/names.h"
#include "check/judge.h"
#include "json/write.h"
#include "recording/reader.h"
#include "rollout/tasks.h"

#define FIRST ".0" /* ends the id of a task's first rollout */

struct first_finding {
	struct buf id;
	bool found;
};

static void take_verdict(void *ctx, const struct rollout_verdict *v)
{
	struct first_finding *f = ctx;

	if (!f->found && v->finding_count > 0 && v->rollout.p) {
		f->found = true;
		buf_str(&f->id, v->rollout);
	}
}

/* Judges the recording without further options and takes the first finding. */
static int find_first(const char *file, const char *rule, struct buf *id, struct error *err)
{
	struct first_finding first = {.id = BUF(BUF_MAX_SMALL)};
	struct judge_conf conf = {.only = rule, .verdict = take_verdict, .ctx = &first};
	struct judge *judge = NULL;
	int failed = judge_new(&conf, &judge, err) || judge_recording(judge, file, NULL, NULL, err);

	if (!failed)
		judge_finish(judge);
	if (!failed && !first.found) {
		failed = error_set(err, FAIL_INPUT, "%s: no rollout in it has a finding of rule %s",
		                   file, rule);
	}
	buf_str(id, buf_view(&first.id));
	judge_free(judge);
	buf_release(&first.id);
	return failed ? -1 : 0;
}

static int list_ids(const struct goldens *g, const char *id, struct error *err)
{
	const char *file = g->items ? g->items[0].file : "";
	AUTO_NAMES ids = {.count = 0};

	for (size_t i = 0; g->items && i < g->count; i++)
		names_add(&ids, g->items[i].want.id);
	if (id) {
		error_set(err, FAIL_USAGE, "%s has no rollout '%s'", file, id);
	} else {
		error_set(err, FAIL_USAGE, "%s has %zu rollouts; choose one with --rollout", file,
		          g->count);
	}
	return names_suggest(err, str_from(id), ids.text, ids.count);
}

int goldens_choose(const struct goldens *g, const char *rule, const char *id, struct golden **out,
                   struct error *err)
{
	AUTO_BUF first = BUF(BUF_MAX_SMALL);
	bool several = g->count > 1;
	int failed = several && !id && rule ? find_first(g->items[0].file, rule, &first, err) : 0;
	const char *wanted = first.n ? buf_cstr(&first) : id;

	*out = NULL;
	for (size_t i = 0; !failed && i < g->count && !*out; i++) {
		bool fits = wanted ? str_is(g->items[i].want.id, wanted) : !several;

		*out = fits ? &g->items[i] : NULL;
	}
	return failed || *out ? failed : list_ids(g, wanted, err);
}

/* Is the first line of the file a header? Appends its environment to `env`, which may be NULL. */
static bool begins_like_recording(const char *file, struct buf *env)
{
	struct reader *r = NULL;
	struct reader_note note;
	struct line first;

	/* whoever uses the file reports it */
	if (reader_open(file, &r, ERROR_IGNORED))
		return false;
	bool is = reader_next(r, &first, &note, ERROR_IGNORED) > 0 && first.type == LINE_HEADER;
	if (is && env)
		buf_str(env, first.value[KEY_ENV]);
	reader_close(r);
	return is;
}

int goldens_check_file(const char *file, const struct target_options *o, struct error *err)
{
	AUTO_BUF env = BUF(BUF_MAX_MESSAGE);

	return !file_may_block(file) && begins_like_recording(file, &env)
	               ? env_target_check_recorded(o, file, buf_view(&env), err)
	               : 0;
}

int goldens_read_policy(struct goldens *g, const char **policy, const struct recorded_options *o,
                        struct error *err)
{
	static const struct opt_list no_masks;
	const char *file = *policy;

	if (!file || !begins_like_recording(file, NULL))
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
