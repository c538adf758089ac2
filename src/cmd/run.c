/* rolldbg run: drive a policy, record, judge. */
#include "base/log.h"
#include "base/mem.h"
#include "base/text.h"
#include "cmd/confirm.h"
#include "cmd/debug.h"
#include "cmd/golden/driver.h"
#include "cmd/golden/goldens.h"
#include "cmd/options/action_options.h"
#include "cmd/options/compare_options.h"
#include "cmd/options/model_options.h"
#include "cmd/options/policies.h"
#include "cmd/plan.h"
#include "cmd/progress.h"
#include "cmd/store/manifest.h"
#include "cmd/store/recordings.h"
#include "cmd/store/store.h"
#include "cmd/verdicts.h"
#include "rollout/batch.h"

#define DEMO_ACTIONS "DOWN,DOWN,RIGHT,DOWN,RIGHT,RIGHT"

#define OPTIONS run
#include "cmd/options/table.h"

/* How the tasks of an environment begin: by the first reply, and the state before the first call. */
struct starts {
	uint64_t reply, state; /* hashes of the first ones */
	size_t resets;
	bool differ;
};

/* Everything a run owns, released in one place. */
struct running {
	const struct context *context;
	const struct run_options *opts;
	struct driver driver;
	struct arena names;      /* names of recordings */
	struct buf policy_path;  /* path of a ready-made policy */
	const char *policy;      /* kind or path; NULL: none given */
	struct goldens recorded; /* rollouts whose calls are the policy; may be empty */
	struct llm_conf *llm;    /* NULL: no model */
	struct llm_usage *usage; /* of llm */
	struct plan plan;
	struct recordings recordings;
	struct hints hints; /* for the judge */
	struct confirm *confirm;
	struct call_list calls; /* as text */
	struct table *table;
	struct rereads rereads;
	/* protects the members below, and the table and what they share */
	pthread_mutex_t lock;
	struct verdicts verdicts;
	struct starts starts;
	int64_t steps;
	uint64_t began_ns;
};

static bool are_many(const struct running *r)
{
	return r->plan.count != 1;
}

/* ---- where the lines go besides the recording ---- */

static void take_start(struct starts *s, const struct line *l)
{
	bool reset = l->type == LINE_RESET && l->outcome == OUTCOME_OK;
	uint64_t *first = reset ? &s->reply : &s->state;

	if (!reset && (l->type != LINE_STEP || l->step != 0))
		return;
	uint64_t now = fingerprint(reset ? l->value[KEY_OBSERVATION] : line_state_hash(l)) | 1;
	*first = *first ? *first : now;
	s->differ |= now != *first;
	s->resets += reset;
}

/* OpenEnv's server passes on only what the environment's reset() takes. */
static void say_alike(const struct running *r)
{
	const struct plan *p = &r->plan;

	if (p->of_env && !r->starts.differ && r->starts.resets > p->group_size) {
		log_warn("%s: all %zu tasks began alike: does the environment's reset() take split "
		         "and index? An OpenEnv server drops what it does not",
		         p->file, p->groups);
	}
}

static int line_sink(void *ctx, const struct line *l, struct error *err)
{
	struct running *r = ctx;

	pthread_mutex_lock(&r->lock);
	take_start(&r->starts, l);
	int failed = verdicts_feed(&r->verdicts, l, err);
	if (!failed && (r->table || are_many(r)))
		verdicts_print(&r->verdicts);
	pthread_mutex_unlock(&r->lock);
	return failed;
}

/* Called before the line's verdict: the row is printed before its findings. */
static void take_facts(void *ctx, const struct evidence_update *u)
{
	struct running *r = ctx;

	r->steps += u->derived.is_step;
	confirm_line(r->confirm, u);
	if (r->table)
		table_line(r->table, u, &r->verdicts.out.text);
}

/* ---- the policy ---- */

static const char *actions_of(const struct run_options *o, bool lake)
{
	bool own = o->actions || o->policy || o->action.tool || o->action.calls.count;

	return lake && !own ? DEMO_ACTIONS : o->actions;
}

/* Without what the task says. */
static struct policy_conf policy_of(const struct running *r, const struct planned *one)
{
	const struct run_options *o = r->opts;
	bool own = one->task && (one->task->actions || one->task->policy);
	bool lake = !own && env_target_is_lake(&r->driver.target);
	struct policy_conf conf = action_conf(&o->action, actions_of(o, lake), &r->calls);

	conf.spec = r->policy;
	conf.calls = goldens_policy_of(&r->recorded, one->task);
	conf.llm = r->llm;
	conf.usage = r->usage;
	conf.force_call = o->force_call;
	return conf;
}

/* A policy that cannot be used is refused before anything is recorded or connected. */
static int check_policies(const struct running *r, struct error *err)
{
	size_t count = r->plan.tasks.count ? r->plan.groups : 1;
	struct planned one;

	for (size_t i = 0; r->plan.count && i < count; i++) {
		plan_nth(&r->plan, i * r->plan.group_size, &one);
		struct policy_conf policy = policy_of(r, &one);
		bool own = one.task && (one.task->actions || one.task->policy);

		if (r->recorded.count && !policy.calls.p && !own) {
			return error_set(err, FAIL_INPUT, "%s:%zu: %s has no rollout of task %s",
			                 r->plan.file, one.task ? one.task->line : 0,
			                 r->opts->policy, one.name);
		}
		if (plan_check_policy(&r->plan, one.task, policy, err))
			return -1;
	}
	return 0;
}

/* ---- setting up ---- */

static bool streams(const struct running *r)
{
	return r->opts->recording.out && !strcmp(r->opts->recording.out, "-");
}

static int choose_plan(struct running *r, struct error *err)
{
	const struct run_options *o = r->opts;
	bool named = recordings_is_directory(o->recording.out);
	AUTO_BUF tasks = BUF(TASK_FILE_MAX);

	goldens_as_tasks(&r->recorded, &tasks);
	r->plan = (struct plan){.made = buf_view(&tasks)};
	int failed =
		plan_make(&r->plan, r->context, &o->plan, &r->driver.target, o->task, named, err);
	r->plan.made = STR_NONE;
	return failed || manifest_check(&r->plan, o->recording.out, err) ||
	       (are_many(r) && descriptors_allow(r->plan.jobs, err));
}

static int open_verdicts(struct running *r, struct error *err)
{
	r->verdicts = (struct verdicts){.context = r->context,
	                                .out = streams(r) ? output_to_stderr() : output_to_stdout(),
	                                .ends_count = true,
	                                .live = true,
	                                .fresh_file = r->recordings.stored,
	                                .fold = are_many(r) && !log_wants(LOG_INFO),
	                                .brief = true,
	                                .options = &r->opts->verdict,
	                                .recordings = &r->recordings,
	                                .many = are_many(r),
	                                .line = take_facts,
	                                .ctx = r};
	if (verdicts_open(&r->verdicts, &r->hints, &r->opts->report, streams(r) ? "--out -" : NULL,
	                  err)) {
		return -1;
	}
	r->confirm = confirm_new(r->opts->confirm, &r->hints);
	if (reports_have_table(r->verdicts.reports) && !r->context->quiet && !streams(r) &&
	    !are_many(r)) {
		r->table = table_new(r->context->style, true);
	}
	if (are_many(r) || r->llm)
		r->verdicts.progress = progress_new(r->context);
	return 0;
}

/* With an invalid mask, the recording could not be stripped. */
static int check_masks(const struct run_options *o, struct error *err)
{
	struct strip *s = NULL;
	int failed = masks_strip(o->masks.item, o->masks.count, &s, err);

	strip_free(s);
	return failed;
}

static int set_up(struct running *r, struct error *err)
{
	r->policy = r->opts->policy;
	if (store_name(r->context->variable, &r->policy, &r->names, err) ||
	    check_masks(r->opts, err) ||
	    verdict_hints(&r->opts->verdict, r->context, &r->hints, err)) {
		return -1;
	}
	return env_target_prepare(&r->driver.target, r->context, &r->opts->target, err) ||
	       call_list_open(&r->opts->action, &r->policy, &r->calls, err) ||
	       policies_find(r->context->variable, r->policy, &r->policy_path, &r->policy, err) ||
	       goldens_read_policy(&r->recorded, &r->policy, &r->opts->recorded, err) ||
	       model_read(r->context, r->policy, &r->opts->model, &r->driver.target, &r->llm,
	                  err) ||
	       choose_plan(r, err) || check_policies(r, err) ||
	       recordings_choose(&r->recordings, r->context, &r->opts->recording, &r->plan,
	                         r->driver.target.secrets, err) ||
	       open_verdicts(r, err) || env_target_start(&r->driver.target, err) ||
	       recordings_open(&r->recordings, err);
}

/* ---- one rollout, in its thread ---- */

/* Not inlined: its frame would be on the stack while each of a thousand rollouts waits. */
static __attribute__((noinline)) struct rollout_conf
conf_of(struct running *r, const struct planned *one, struct io *io)
{
	const struct run_options *o = r->opts;
	struct rollout_conf conf = driver_conf(&r->driver, io);

	conf.policy = policy_of(r, one);
	conf.task = *one->name ? one->name : NULL;
	conf.sample = (int64_t)one->sample;
	conf.group_size = r->plan.grouped ? (int64_t)r->plan.group_size : 0;
	driver_limit_turns(&conf, &o->max_turns);
	conf.masks = o->masks.item;
	conf.mask_count = o->masks.count;
	conf.rereads = are_many(r) && r->plan.jobs > 1 ? &r->rereads : NULL;
	if (one->task)
		plan_apply_task(one->task, &conf);
	return conf;
}

/* Keeps the first error. Not inlined, like conf_of. */
static __attribute__((noinline)) int finish(struct running *r, struct recording *own, int failed,
                                            struct error *err)
{
	return recording_close(&r->recordings, own, failed ? ERROR_IGNORED : err) || failed ? -1
	                                                                                    : 0;
}

static int record(struct running *r, struct rollout_conf *conf, const char *id,
                  struct rollout_result *result, struct error *err)
{
	struct recording own;
	int failed = recording_open(&r->recordings, id, &own, err);

	if (!failed) {
		conf->recorder = own.recorder;
		failed = driver_rollout(&r->driver, conf, result, err);
	}
	return finish(r, &own, failed, err);
}

static int run_one(void *ctx, size_t index, struct io *io, struct rollout_result *result,
                   struct error *err)
{
	struct running *r = ctx;
	struct planned one;
	struct line_sink sink = {line_sink, r};

	plan_nth(&r->plan, index, &one);
	struct rollout_conf conf = conf_of(r, &one, io);
	conf.sinks = &sink;
	conf.sink_count = 1;
	int failed = record(r, &conf, one.id, result, err);
	plan_ended(&r->plan, index, failed, result);
	if (failed && one.task)
		plan_blame_task(&r->plan, one.task, err);
	return failed;
}

/* ---- how far it is ---- */

#define PROGRESS_MS 200

static void show_progress(void *ctx, const struct batch_count *now)
{
	struct running *r = ctx;
	const struct clock *clock = &r->context->clock;

	pthread_mutex_lock(&r->lock);
	int64_t steps = r->steps;
	pthread_mutex_unlock(&r->lock);
	uint64_t now_ns = clock->monotonic_ns(clock->ctx);
	AUTO_BUF model = BUF(BUF_MAX_SMALL);

	if (are_many(r)) {
		model_say_tokens(r->usage, &model);
		progress_of_batch(r->verdicts.progress, now, steps,
		                  (now_ns - r->began_ns) / 1000000, buf_cstr(&model));
	} else if (model_say_waiting(r->usage, now_ns, &model)) {
		progress_show(r->verdicts.progress, buf_view(&model));
	} else {
		progress_give_way(r->verdicts.progress);
		progress_go_on(r->verdicts.progress);
	}
}

/* ---- the run ---- */

static int drive(struct running *r, struct batch_count *count, struct error *err)
{
	const struct clock *clock = &r->context->clock;
	struct batch_conf conf = {.count = r->plan.count,
	                          .jobs = r->plan.jobs,
	                          .rollout = run_one,
	                          .tick = r->verdicts.progress ? show_progress : NULL,
	                          .tick_ms = PROGRESS_MS,
	                          .ctx = r};

	r->rereads.most = r->plan.jobs;
	r->began_ns = clock->monotonic_ns(clock->ctx);
	int failed = driver_batch(&r->driver, r->context, conf, count, err);
	progress_free(r->verdicts.progress);
	r->verdicts.progress = NULL;
	return failed;
}

static int confirm(struct running *r, const struct batch_count *count, struct error *err)
{
	struct planned one;

	if (count->done < count->total || !r->plan.count)
		return 0;
	plan_nth(&r->plan, 0, &one);
	struct rollout_conf conf = conf_of(r, &one, NULL);
	return confirm_run(r->confirm, &r->driver, &conf.env, r->verdicts.judge, r->context->quiet,
	                   err);
}

static void say_summary(struct running *r, const struct batch_count *count)
{
	struct buf *out = &r->verdicts.out.text;
	bool people = reports_have_table(r->verdicts.reports) && !r->context->quiet;

	verdicts_summary(&r->verdicts, r->verdicts.judge);
	if (people)
		confirm_say(r->confirm, &r->driver, r->verdicts.judge, out);
	if (r->llm && people)
		model_say_usage(r->usage, r->llm, out);
	if (people && are_many(r))
		progress_say_environments(count, out);
	if (people && !r->opts->recording.out)
		text_put_path(out, "recorded", buf_cstr(&r->recordings.path));
}

/* The most serious result determines the code; a call left unanswered counts like a refused one. */
static int conclude(struct running *r, const struct batch_count *count, struct error *err)
{
	judge_finish(r->verdicts.judge);
	int failed = confirm(r, count, err);
	const struct driver *d = &r->driver;
	if (d->peer.kind != FAIL_NONE && !(r->table && r->context->style.terminal)) {
		/* otherwise the reason is in the table, on the same terminal */
		target_say_lost(d->lost_policy && r->llm ? r->llm->url : d->target.name,
		                d->peer.text);
	}
	if (are_many(r) && count->interrupted + count->done < count->total) {
		log_warn("interrupted: %zu of %zu rollouts are done, %zu were interrupted, %zu "
		         "never started",
		         count->done, count->total, count->interrupted,
		         count->total - count->done - count->interrupted);
	}
	if (r->verdicts.mute.kind != FAIL_NONE) {
		*err = r->verdicts.mute;
		return -1;
	}
	say_alike(r);
	say_summary(r, count); /* of what was recorded, even if the experiment failed */
	failed = failed || reports_close(r->verdicts.reports, r->verdicts.judge, NULL, err);
	if (output_flush(&r->verdicts.out, failed ? ERROR_IGNORED : err) || failed)
		return -1;
	return driver_exit_code(count, r->verdicts.at_or_above > 0);
}

/* A local failure: ends the reports with it and prints the results so far. */
static int give_up(struct running *r, struct error *err)
{
	env_target_hide(&r->driver.target, err);
	judge_finish(r->verdicts.judge);
	reports_give_up(r->verdicts.reports, NULL, r->verdicts.judge, err);
	(void)!output_flush(&r->verdicts.out, ERROR_IGNORED);
	return -1;
}

static void tear_down(struct running *r)
{
	verdicts_release(&r->verdicts);
	table_free(r->table);
	confirm_free(r->confirm);
	call_list_release(&r->calls);
	verdict_hints_release(&r->hints);
	recordings_release(&r->recordings);
	driver_release(&r->driver);
	llm_conf_free(r->llm);
	llm_usage_free(r->usage);
	plan_release(&r->plan);
	goldens_release(&r->recorded);
	buf_release(&r->policy_path);
	arena_release(&r->names);
	pthread_mutex_destroy(&r->lock);
}

/* ---- in the debugger ---- */

static int run_in_debugger(const struct context *c, const struct run_options *o, struct error *err)
{
	struct debug_options d = {.target = o->target,
	                          .out = o->recording.out,
	                          .force = o->recording.force,
	                          .actions = actions_of(o, !o->target.env),
	                          .action = o->action,
	                          .policy = o->policy,
	                          .task = o->task,
	                          .max_turns = o->max_turns,
	                          .force_call = o->force_call,
	                          .model = o->model};

	if (recordings_is_directory(o->recording.out))
		return error_set(err, FAIL_USAGE, "--break works with a single rollout only");
	return debug_until(c, &d, o->stop_at, err);
}

static int run_main(const struct context *c, const void *opts, int argc, char **argv,
                    struct error *err)
{
	const struct run_options *o = opts;

	if (o->stop_at)
		return run_in_debugger(c, o, err);
	struct running r = {.context = c,
	                    .opts = opts,
	                    .usage = llm_usage_new(),
	                    .policy_path = BUF(BUF_MAX_SMALL)};
	struct batch_count count;

	driver_init(&r.driver, c);
	pthread_mutex_init(&r.lock, NULL);
	int code = set_up(&r, err)          ? -1
	           : drive(&r, &count, err) ? give_up(&r, err)
	                                    : conclude(&r, &count, err);
	if (recordings_close(&r.recordings, code < 0 ? ERROR_IGNORED : err) ||
	    (code >= 0 && manifest_write(&r.plan, &r.recordings, err))) {
		code = -1;
	}
	if (code < 0) {
		env_target_hide(&r.driver.target, err);
		reports_give_up(r.verdicts.reports, NULL, r.verdicts.judge, err);
	}
	tear_down(&r);
	return code;
}

CODE(run)
