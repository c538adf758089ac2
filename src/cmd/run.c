/* rolldbg run: drive a policy, record, judge. */
#include "base/log.h"
#include "base/mem.h"
#include "base/text.h"
#include "cmd/descriptors.h"
#include "cmd/masks.h"
#include "cmd/model.h"
#include "cmd/plan.h"
#include "cmd/progress.h"
#include "cmd/recordings.h"
#include "cmd/store.h"
#include "cmd/target.h"
#include "cmd/verdicts.h"
#include "rollout/batch.h"

#include <pthread.h>
#include <stdio.h>

#define DEMO_ACTIONS "DOWN,DOWN,RIGHT,DOWN,RIGHT,RIGHT"

struct run_options {
	struct target_options target;
	struct plan_options plan;
	struct recording_options recording;
	const char *actions, *tool, *policy, *task;
	struct opt_list masks;
	struct opt_u64 max_turns;
	bool force_call;
	struct llm_options model;
	struct verdict_options verdict;
};

#define FIELD(f) OPT(struct run_options, f)

static const struct opt options[] = {
	TARGET_FIRST_OPTIONS(FIELD(target)),
	{'a', "actions", "A,B,C", OPT_STR, FIELD(actions),
         "call the tool once with each of these values", NULL},
	{'t', "tool", "NAME", OPT_STR, FIELD(tool),
         "the tool that --actions calls (default: the only one)", NULL},
	{'p', "policy", "FILE|KIND:ARG", OPT_STR, FIELD(policy),
         "what chooses the calls: a policy file, random:SEED, or llm with --model and "
         "--base-url",
         NULL},
	{'n', "max-turns", "N", OPT_U64, FIELD(max_turns),
         "stop after N turns (default: the script's length, else 100)", NULL},
	RECORDING_OPTIONS(FIELD(recording)),
	PLAN_OPTIONS(FIELD(plan)),
	{0, "mask", "POINTER", OPT_LIST, FIELD(masks),
         "JSON Pointer to a part of the lines that may differ between runs; recorded in "
         "the header",
         NULL},
	{0, "task", "ID", OPT_STR, FIELD(task),
         "id of the task (default: the server's name)", NULL},
	{0, "force-call", NULL, OPT_FLAG, FIELD(force_call),
         "send a script's calls even when they do not fit the tool's schema", NULL},
	MODEL_OPTIONS(FIELD(model)),
	TARGET_OPTIONS(FIELD(target)),
	VERDICT_OPTIONS(FIELD(verdict)),
};

/* Everything one run holds, so that there is one way out. */
struct running {
	const struct context *context;
	const struct run_options *opts;
	struct env_target target;
	struct pages *pages; /* of the server */
	struct scratch_pool *scratch;
	struct llm_conf *llm; /* NULL: no model is asked */
	struct plan plan;
	struct recordings recordings;
	struct told told; /* to the judge */
	struct judge *judge;
	struct table *table;
	struct progress *progress;
	pthread_mutex_t order; /* of the lines of all rollouts */
	pthread_mutex_t lock;  /* guards what follows, and the four above */
	struct verdicts verdicts;
	const struct env_ops *env_ops; /* once somebody has asked the server */
	struct error mute; /* why nothing more is printed; the recording goes on */
	struct error peer; /* what the first one said that found nobody or was refused */
	bool lost_model;   /* and it was the model */
	struct buf file;   /* scratch */
	int64_t steps;
	bool latest; /* the link in the store points here */
	uint64_t began_ns;
};

static bool are_many(const struct running *r)
{
	return r->plan.count > 1;
}

/* ---- where the lines go beside the recording ---- */

/* A rollout is not given up because its verdict cannot be printed. */
static void print_some(struct running *r)
{
	if (r->mute.kind == FAIL_NONE && r->verdicts.out.text.n) {
		progress_give_way(r->progress);
		(void)!output_flush(&r->verdicts.out, &r->mute);
		progress_go_on(r->progress);
	}
	buf_clear(&r->verdicts.out.text);
}

/* With the lock held. */
static int take_line(struct running *r, const struct line *l, struct error *err)
{
	r->steps += l->type == LINE_STEP && l->step >= 0;
	if (r->recordings.stored && !r->latest) {
		r->latest = true;
		if (store_set_latest(r->context, buf_cstr(&r->recordings.path), err)) {
			return -1;
		}
	}
	/* first the row, then what its verdict is */
	if (r->table) {
		table_line(r->table, l, &r->verdicts.out.text);
	}
	int failed = judge_line(r->judge, l, NULL, err);
	if (r->table || are_many(r)) {
		print_some(r);
	}
	return failed;
}

static int line_sink(void *ctx, const struct line *l, struct error *err)
{
	struct running *r = ctx;

	pthread_mutex_lock(&r->lock);
	int failed = take_line(r, l, err);
	pthread_mutex_unlock(&r->lock);
	return failed;
}

/* A finding names the file that its rollout stands in. */
static void take_verdict(void *ctx, const struct rollout_verdict *v)
{
	struct running *r = ctx;
	struct rollout_verdict one = *v;

	r->verdicts.whose = are_many(r) && v->rollout.p ? WHOSE_ROLLOUT : WHOSE_NOTHING;
	if (r->recordings.folder && v->rollout.p) {
		buf_clear(&r->file);
		recordings_path(&r->recordings, v->rollout, &r->file);
		one.file = buf_cstr(&r->file);
	}
	verdicts_take(&r->verdicts, &one);
}

/* ---- setting up ---- */

static bool streams(const struct running *r)
{
	const char *out = r->opts->recording.out;

	return out && !strcmp(out, "-");
}

static int settle_out(struct running *r, struct error *err)
{
	if (streams(r) && r->opts->verdict.json) {
		return error_set(err, FAIL_USAGE,
		                 "--out - and --json both want standard output");
	}
	return recordings_settle(&r->recordings, r->context, &r->opts->recording,
	                         &r->plan, r->target.secrets, err);
}

static int settle_plan(struct running *r, struct error *err)
{
	const struct run_options *o = r->opts;

	return plan_make(&r->plan, &o->plan, o->task,
	                 recordings_is_folder(o->recording.out), err) ||
	       (are_many(r) && descriptors_allow(r->plan.jobs, err));
}

#define SHOWN_OF_A_RULE 3

static int open_verdicts(struct running *r, struct error *err)
{
	const struct verdict_options *v = &r->opts->verdict;
	struct judge_conf conf = {.only = v->only,
	                          .without = v->without,
	                          .told = r->told,
	                          .verdict = take_verdict,
	                          .ctx = r};
	bool some = are_many(r) && !log_wants(LOG_INFO);

	r->verdicts = (struct verdicts){.context = r->context,
	                                .out = streams(r) ? output_to_stderr()
	                                                  : output_to_stdout(),
	                                .json = v->json,
	                                .show_max = some ? SHOWN_OF_A_RULE : 0,
	                                .fail_on = v->fail_on};
	if (judge_new(&conf, &r->judge, err)) {
		return -1;
	}
	judge_file(r->judge, buf_cstr(&r->recordings.path));
	if (!v->json && !r->context->quiet && !streams(r) && !are_many(r)) {
		r->table = table_new(r->context->style);
	}
	if (are_many(r)) {
		r->progress = progress_new(r->context);
	}
	return 0;
}

/* A mask that is no pointer would make a recording that nothing can strip. */
static int check_masks(const struct run_options *o, struct error *err)
{
	struct strip *s = NULL;
	int failed = masks_strip(&o->masks, &s, err);

	strip_free(s);
	return failed;
}

static int set_up(struct running *r, struct error *err)
{
	if (check_masks(r->opts, err) || verdict_told(&r->opts->verdict, &r->told, err)) {
		return -1;
	}
	return env_target_prepare(&r->target, r->context, &r->opts->target, err) ||
	       model_read(r->context, r->opts->policy, &r->opts->model, r->target.secrets,
	                  &r->llm, err) ||
	       settle_plan(r, err) || settle_out(r, err) ||
	       env_target_start(&r->target, err) || open_verdicts(r, err) ||
	       recordings_open(&r->recordings, err);
}

/* ---- one rollout, in its thread ---- */

static const char *actions_of(const struct running *r)
{
	const struct run_options *o = r->opts;
	bool demo =
		env_target_is_lake(&r->target) && !o->actions && !o->policy && !o->tool;

	return demo ? DEMO_ACTIONS : o->actions;
}

/* What the task says goes before the options. */
static void apply_task(const struct task *t, struct rollout_conf *conf)
{
	struct policy_conf *p = &conf->policy;

	/* the built-in demonstration is no policy that a task's would be added to */
	p->actions = t->actions ? t->actions : p->actions;
	p->tool = t->tool ? t->tool : p->tool;
	if (t->policy && (!p->spec || strcmp(t->policy, p->spec) != 0)) {
		p->spec = t->policy;
		p->llm = NULL; /* the model of the options is not this policy's */
	}
	p->vars = t->vars;
	if (t->state) {
		conf->env.state_spec = str_from(t->state);
	}
	if (t->seed.given) {
		conf->env.has_seed = true;
		conf->env.seed = t->seed.value;
	}
	if (t->max_turns.given) {
		conf->max_turns = t->max_turns;
	}
}

static struct rollout_conf conf_of(const struct running *r, const struct planned *one)
{
	const struct run_options *o = r->opts;
	bool own = one->task && (one->task->actions || one->task->policy);
	struct rollout_conf conf = {
		.task = *one->name ? one->name : NULL,
		.sample = (int64_t)one->sample,
		.group_size = r->plan.grouped ? (int64_t)r->plan.group_size : 0,
		.env = env_target_conf(&r->target),
		.policy = {.actions = own ? o->actions : actions_of(r),
	                   .tool = o->tool,
	                   .spec = o->policy,
	                   .llm = r->llm,
	                   .force_call = o->force_call},
		.max_turns = o->max_turns,
		.masks = &o->masks,
		.clock = r->context->clock};

	if (one->task) {
		apply_task(one->task, &conf);
	}
	return conf;
}

/* Asked once: it is the same server for all. */
static int find_ops(struct running *r, struct rollout_conf *conf, struct error *err)
{
	pthread_mutex_lock(&r->lock);
	if (!r->env_ops) {
		r->env_ops = env_find(&conf->env, conf->io, err);
	}
	conf->env_ops = r->env_ops;
	pthread_mutex_unlock(&r->lock);
	return conf->env_ops ? 0 : -1;
}

/* The first failure counts. Not inlined: its frame would lie on the stack while each of a
   thousand rollouts waits. */
static __attribute__((noinline)) int finish(struct running *r, struct recording *own,
                                            int failed, struct error *err)
{
	struct error closing = {0};

	if (recording_close(&r->recordings, own, &closing) && !failed) {
		*err = closing;
		failed = -1;
	}
	return failed;
}

static int record(struct running *r, struct rollout_conf *conf, const char *id,
                  struct rollout_result *result, struct error *err)
{
	struct recording own;
	int failed = recording_open(&r->recordings, id, &own, err);

	if (!failed) {
		conf->recorder = own.recorder;
		failed =
			find_ops(r, conf, err) || rollout_run(conf, result, err) ? -1 : 0;
	}
	return finish(r, &own, failed, err);
}

/* What does not fit may be one task's options, or the file's. */
static void blame_task(const struct running *r, const struct task *t, struct error *err)
{
	bool own = t->actions || t->tool || t->policy || t->state;

	if (err->kind == FAIL_USAGE || err->kind == FAIL_INPUT) {
		err->kind = own ? FAIL_INPUT : err->kind;
		error_wrap(err, "%s:%zu", r->plan.file, t->line);
	}
}

static int run_one(void *ctx, size_t index, struct io *io, struct rollout_result *result,
                   struct error *err)
{
	struct running *r = ctx;
	struct planned one;
	struct line_sink sink = {line_sink, r};
	char env_session[TARGET_SESSION_DIGITS + 1];

	plan_nth(&r->plan, index, &one);
	struct rollout_conf conf = conf_of(r, &one);
	conf.io = io;
	conf.env.env_session = env_session;
	conf.env.pages = r->pages;
	conf.scratch = r->scratch;
	conf.order = &r->order;
	conf.sinks = &sink;
	conf.sink_count = 1;
	int failed = env_target_new_session(env_session, err) ||
	             record(r, &conf, one.id, result, err);
	if (failed && one.task) {
		blame_task(r, one.task, err);
	}
	if (!failed && result->peer.kind != FAIL_NONE) {
		pthread_mutex_lock(&r->lock);
		if (r->peer.kind == FAIL_NONE) {
			r->peer = result->peer;
			r->lost_model = result->lost_policy && r->llm;
		}
		pthread_mutex_unlock(&r->lock);
	}
	return failed ? -1 : 0;
}

static int new_io(void *ctx, struct io **out, struct error *err)
{
	struct running *r = ctx;

	return env_target_new_io(&r->target, out, err);
}

/* ---- how far it is ---- */

#define PROGRESS_MS 200

static uint64_t seconds_left(const struct batch_count *now, uint64_t took_ms)
{
	uint64_t left = now->total - now->done - now->interrupted;

	return took_ms * left / now->done / 1000;
}

static void show_progress(void *ctx, const struct batch_count *now)
{
	struct running *r = ctx;
	struct buf text = BUF(BUF_MAX_SMALL);
	const struct clock *clock = &r->context->clock;
	uint64_t took_ms = (clock->monotonic_ns(clock->ctx) - r->began_ns) / 1000000;

	pthread_mutex_lock(&r->lock);
	int64_t steps = r->steps;
	pthread_mutex_unlock(&r->lock);
	buf_printf(&text, "%zu of %zu done · %zu running · %zu failed · %lld steps/s",
	           now->done, now->total, now->running,
	           now->refused + now->unreachable + now->lost + now->failed,
	           (long long)((uint64_t)steps * 1000 / (took_ms + 1)));
	if (now->done) {
		uint64_t left = seconds_left(now, took_ms);

		buf_printf(&text, " · %llu:%02llu left", (unsigned long long)(left / 60),
		           (unsigned long long)(left % 60));
	}
	progress_show(r->progress, buf_view(&text));
	buf_release(&text);
}

/* ---- the run ---- */

static int drive(struct running *r, struct batch_count *count, struct error *err)
{
	const struct clock *clock = &r->context->clock;
	struct batch_conf conf = {.count = r->plan.count,
	                          .jobs = r->plan.jobs,
	                          .stop_fd = r->context->stop_fd,
	                          .new_io = new_io,
	                          .rollout = run_one,
	                          .tick = r->progress ? show_progress : NULL,
	                          .tick_ms = PROGRESS_MS,
	                          .ctx = r};

	r->began_ns = clock->monotonic_ns(clock->ctx);
	int failed = batch_run(&conf, count, err);
	progress_free(r->progress);
	r->progress = NULL;
	return failed;
}

/* The worst wins. */
static int exit_code(const struct running *r, const struct batch_count *count)
{
	if (count->interrupted || count->done < count->total) {
		return 130;
	}
	if (count->failed) {
		return 5;
	}
	if (count->unreachable || count->lost) {
		return 4;
	}
	return count->refused || r->verdicts.at_or_above > 0;
}

/* What a trainer wants to know first. */
static void say_environments(const struct batch_count *count, struct buf *out)
{
	const struct {
		size_t n;
		const char *what;
	} others[] = {{count->refused, "refused"},
	              {count->unreachable, "found nobody"},
	              {count->lost, "lost it"}};

	if (!count->refused && !count->unreachable && !count->lost) {
		return;
	}
	buf_printf(out, "%zu of %zu rollouts had an environment", count->opened,
	           count->done + count->interrupted);
	for (size_t i = 0; i < ARRAY_LEN(others); i++) {
		if (others[i].n) {
			buf_printf(out, " · %zu %s", others[i].n, others[i].what);
		}
	}
	buf_char(out, '\n');
}

static void say_summary(struct running *r, const struct batch_count *count)
{
	struct buf *out = &r->verdicts.out.text;
	bool people = !r->opts->verdict.json && !r->context->quiet;

	verdicts_summary(&r->verdicts, r->judge);
	if (people && are_many(r)) {
		say_environments(count, out);
	}
	if (people && !r->opts->recording.out) {
		buf_printf(out, "recorded: %s\n", buf_cstr(&r->recordings.path));
	}
}

/* Some sentences begin with the place themselves. */
static void say_lost(const char *place, const char *why)
{
	bool named = str_starts(str_from(why), str_from(place));

	log_error("%s%s%s", named ? "" : place, named ? "" : ": ", why);
}

static int conclude(struct running *r, const struct batch_count *count, struct error *err)
{
	judge_finish(r->judge);
	if (r->peer.kind != FAIL_NONE) {
		say_lost(r->lost_model ? r->llm->url : r->target.name, r->peer.text);
	}
	if (are_many(r) && count->interrupted + count->done < count->total) {
		log_warn("interrupted: %zu of %zu rollouts are done, %zu were broken "
		         "off, %zu never started",
		         count->done, count->total, count->interrupted,
		         count->total - count->done - count->interrupted);
	}
	if (r->mute.kind != FAIL_NONE) {
		*err = r->mute;
		return -1;
	}
	say_summary(r, count);
	if (output_flush(&r->verdicts.out, err)) {
		return -1;
	}
	return exit_code(r, count);
}

static void tear_down(struct running *r)
{
	progress_free(r->progress);
	table_free(r->table);
	judge_free(r->judge);
	told_release(&r->told);
	output_release(&r->verdicts.out);
	recordings_release(&r->recordings);
	env_target_release(&r->target);
	pages_free(r->pages);
	scratch_pool_free(r->scratch);
	llm_conf_free(r->llm);
	plan_release(&r->plan);
	buf_release(&r->file);
	pthread_mutex_destroy(&r->lock);
	pthread_mutex_destroy(&r->order);
}

static int run_run(const struct context *c, const void *opts, int argc, char **argv,
                   struct error *err)
{
	struct running r = {.context = c,
	                    .opts = opts,
	                    .pages = pages_new(),
	                    .scratch = scratch_pool_new(),
	                    .file = BUF(BUF_MAX_SMALL)};
	struct batch_count count;
	struct error closing = {0};

	(void)argc;
	(void)argv;
	pthread_mutex_init(&r.lock, NULL);
	pthread_mutex_init(&r.order, NULL);
	int code = set_up(&r, err) || drive(&r, &count, err) ? -1
	                                                     : conclude(&r, &count, err);
	if (recordings_close(&r.recordings, &closing) && code >= 0) {
		*err = closing;
		code = -1;
	}
	if (code < 0) {
		env_target_hide(&r.target, err);
	}
	tear_down(&r);
	return code;
}

const struct command command_run = {
	.name = "run",
	.summary = "drive a policy against an environment, record it, judge it",
	.operands = "",
	.description = "Sends the policy's calls to the environment, reads the state "
		       "before each, records every turn as JSONL and says whether the "
		       "environment ever moved. Without --env it drives the built-in "
		       "lake; without --out the recording goes to a new file, which "
		       "check, show, strip and stats read when no file is named.",
	.opts = options,
	.opt_count = ARRAY_LEN(options),
	.opts_size = sizeof(struct run_options),
	.network = true,
	.run = run_run,
};
