/* rolldbg replay: the calls of goldens, sent to a live environment, and what came compared. */
#include "base/log.h"
#include "base/mem.h"
#include "cmd/compare_options.h"
#include "cmd/descriptors.h"
#include "cmd/goldens.h"
#include "cmd/mask_hints.h"
#include "cmd/output.h"
#include "cmd/recordings.h"
#include "cmd/reports.h"
#include "cmd/settings.h"
#include "cmd/store.h"
#include "cmd/target.h"
#include "report/differences.h"
#include "rollout/batch.h"
#include "trajectory/recorder.h"

#include <pthread.h>

struct replay_options {
	struct target_options target;
	struct compare_options compare;
	const char *out;
	struct opt_u64 jobs;
	bool accept, force;
	struct report_options report;
};

#define FIELD(f) offsetof(struct replay_options, f)

static const struct opt options[] = {
	OPT_GROUP(FIELD(target), target_first_group),
	OPT_GROUP(FIELD(compare), compare_group),
	OPT_FLAG(0, "accept", FIELD(accept),
                 "replace each golden that differs by what came; without it, that is written to "
                 "GOLDEN.new"),
	OPT_NUMBER('j', "jobs", "N", FIELD(jobs), "replay N rollouts at a time (default 1)"),
	OPT_STRING('o', "out", "FILE", FIELD(out),
                   "record to this file (default: a new file in the state folder)"),
	OPT_FLAG('f', "force", FIELD(force), "replace the file of --out"),
	OPT_GROUP(FIELD(report), report_group),
	OPT_GROUP(FIELD(target), target_group),
	OPT_GROUP(FIELD(target.headers), header_group),
};

struct replaying {
	const struct context *context;
	const struct replay_options *opts;
	struct file_list files;
	struct goldens goldens;
	struct tolerances tolerances;
	struct env_target target;
	struct page_cache *pages;
	struct scratch_pool *scratch;
	struct volatile_members *volatile_members;
	struct recorder *recorder;
	struct buf path; /* of the recording */
	struct output out;
	struct reports *reports;
	struct difference_printer printer;
	struct mask_hints hints, case_hints; /* of all differences, of the present rollout's */
	struct compare_count count;
	bool differs;                  /* and the difference was not accepted */
	pthread_mutex_t order;         /* of the lines of all rollouts */
	pthread_mutex_t lock;          /* guards what follows */
	const struct env_ops *env_ops; /* once somebody has asked the server */
	struct error peer;             /* what the first one said that was lost or not reached */
};

/* ---- one rollout, in its thread ---- */

static int take_line(void *ctx, const struct line *l, struct error *err)
{
	struct golden *g = ctx;

	return rollout_copy_add(&g->got, g->strip, l, err);
}

static int find_ops(struct replaying *r, struct rollout_conf *conf, struct error *err)
{
	pthread_mutex_lock(&r->lock);
	if (!r->env_ops) {
		r->env_ops = env_find(&conf->env, conf->io, err);
	}
	conf->env_ops = r->env_ops;
	pthread_mutex_unlock(&r->lock);
	return conf->env_ops ? 0 : -1;
}

static struct rollout_conf conf_of(struct replaying *r, struct golden *g, struct io *io)
{
	struct rollout_conf conf = {.task = g->task.p,
	                            .sample = g->sample,
	                            .env = env_target_conf(&r->target),
	                            /* a call that no longer fits is a difference, not a refusal */
	                            .policy = {.calls = g->calls, .force_call = true},
	                            .masks = g->masks,
	                            .mask_count = g->mask_count,
	                            .clock = r->context->clock,
	                            .io = io,
	                            .recorder = r->recorder,
	                            .volatile_members = r->volatile_members,
	                            .scratch = r->scratch,
	                            .order = &r->order};

	conf.env.pages = r->pages;
	if (g->has_seed && !r->opts->target.seed.given) {
		conf.env.has_seed = true;
		conf.env.seed = g->seed;
	}
	if (g->reset.p && !conf.env.reset_args.p) {
		conf.env.reset_args = g->reset;
	}
	return conf;
}

static void take_result(struct replaying *r, struct golden *g, const struct rollout_result *result)
{
	g->opened = result->opened;
	g->compared = result->status != END_INTERRUPTED && result->status != END_UNREACHABLE &&
	              result->status != END_FAILED;
	pthread_mutex_lock(&r->lock);
	if (result->peer.kind != FAIL_NONE && r->peer.kind == FAIL_NONE) {
		r->peer = result->peer;
	}
	if (result->peer.kind != FAIL_NONE) {
		struct error lost = result->peer;

		env_target_hide(&r->target, &lost);
		g->lost = BUF(BUF_MAX_SMALL);
		settings_put(&g->lost, lost.text);
	}
	pthread_mutex_unlock(&r->lock);
}

static int replay_one(void *ctx, size_t index, struct io *io, struct rollout_result *result,
                      struct error *err)
{
	struct replaying *r = ctx;
	struct golden *g = &r->goldens.items[index];
	struct line_sink sink = {take_line, g};
	char env_session[TARGET_SESSION_DIGITS + 1];
	struct rollout_conf conf = conf_of(r, g, io);

	conf.env.env_session = env_session;
	conf.sinks = &sink;
	conf.sink_count = 1;
	if (env_target_new_session(env_session, err) || find_ops(r, &conf, err) ||
	    rollout_run(&conf, result, err)) {
		return -1;
	}
	take_result(r, g, result);
	return 0;
}

static int new_io(void *ctx, struct io **out, struct error *err)
{
	struct replaying *r = ctx;

	return env_target_new_io(&r->target, out, err);
}

/* ---- setting up ---- */

static int settle_jobs(const struct replaying *r, size_t *jobs, struct error *err)
{
	const struct opt_u64 *given = &r->opts->jobs;
	const char *repeated;

	*jobs = 1;
	if (!given->given || given->value == 1) {
		return 0;
	}
	if (given->value < 1 || given->value > JOBS_MAX) {
		return error_set(err, FAIL_USAGE,
		                 "--jobs: expected a number from 1 to %d, got %llu", JOBS_MAX,
		                 (unsigned long long)given->value);
	}
	repeated = goldens_repeated_id(&r->goldens);
	if (repeated) {
		log_warn("two goldens have the rollout id %s: replayed one at a time (record them "
		         "with different --task names)",
		         repeated);
		return 0;
	}
	*jobs = given->value < r->goldens.count ? (size_t)given->value : r->goldens.count;
	return descriptors_allow(*jobs, err);
}

static int open_recording(struct replaying *r, struct error *err)
{
	const char *out = r->opts->out;
	struct recorder_conf conf = {
		.force = r->opts->force, .private = !out, .secrets = r->target.secrets};

	if (out) {
		buf_text(&r->path, out);
	} else if (store_new_file(r->context, &r->path, err)) {
		return -1;
	}
	conf.path = buf_cstr(&r->path);
	if (recorder_new(&conf, &r->recorder, err)) {
		return -1;
	}
	return out ? 0 : store_set_latest(r->context, conf.path, err);
}

static int set_up(struct replaying *r, int argc, char **argv, size_t *jobs, struct error *err)
{
	return tolerances_read(&r->tolerances, &r->opts->compare, err) ||
	       reports_open(&r->opts->report, r->context, &r->out.text, NULL, &r->reports, err) ||
	       env_target_prepare(&r->target, r->context, &r->opts->target, err) ||
	       file_list_new(argv, (size_t)argc, &r->files, err) ||
	       goldens_read(&r->goldens, r->files.paths, r->files.count, &r->opts->compare.masks,
	                    err) ||
	       settle_jobs(r, jobs, err) || env_target_start(&r->target, err) ||
	       open_recording(r, err);
}

/* ---- comparing ---- */

static void take_difference(void *ctx, const struct difference *d)
{
	struct replaying *r = ctx;

	mask_hints_add(&r->hints, d);
	mask_hints_add(&r->case_hints, d);
	reports_difference(r->reports, &r->printer, d);
	if (reports_have_table(r->reports)) {
		report_difference(&r->printer, d, &r->out.text);
	}
}

/* `problem`: why it was not compared; NULL: it was. */
static void report_golden(struct replaying *r, const struct golden *g, const char *problem)
{
	struct buf hint = BUF(BUF_MAX_MESSAGE);
	bool counts = g->count.differences && !r->opts->accept;
	struct report_case c = {.file = g->file,
	                        .line = g->want.header.number,
	                        .rollout = g->want.id,
	                        .task = g->task,
	                        .compared = problem ? NULL : &g->count,
	                        .problem = problem};

	c.result = problem ? CASE_ERROR : counts ? CASE_FAILED : CASE_PASSED;
	mask_hints_say(&r->case_hints, &hint);
	c.hint = hint.n ? buf_cstr(&hint) : NULL;
	reports_case(r->reports, &c);
	mask_hints_release(&r->case_hints);
	buf_release(&hint);
}

static void compare_one(struct replaying *r, struct golden *g)
{
	struct compare_conf conf = {.replayed = true,
	                            .tolerances = r->tolerances.list,
	                            .tolerance_count = r->tolerances.count,
	                            .take = take_difference,
	                            .ctx = r};

	if (!g->compared) {
		log_warn("%s: rollout %.*s was not replayed to its end and is not compared",
		         g->file, STR_ARG(g->want.id));
		report_golden(r, g, g->lost.n ? buf_cstr(&g->lost) : "not replayed to its end");
		return;
	}
	r->printer.file = g->file;
	compare_rollouts(&g->want, &g->got, &conf, &g->count);
	compare_add(&r->count, &g->count);
	report_golden(r, g, NULL);
}

static bool differs(const struct replaying *r, const char *file, bool *whole)
{
	size_t differences = 0;

	*whole = true;
	for (size_t i = 0; i < r->goldens.count; i++) {
		const struct golden *g = &r->goldens.items[i];

		if (g->file == file) {
			differences += g->count.differences;
			*whole = *whole && g->compared && g->opened;
		}
	}
	return differences > 0;
}

/* What came is a new golden only if all of it came. */
static int write_file(struct replaying *r, const char *file, struct error *err)
{
	bool whole, different = differs(r, file, &whole);

	bool writable = whole && strcmp(file, "-") != 0;

	r->differs = r->differs || (different && !(writable && r->opts->accept));
	if (!writable) {
		return 0;
	}
	if (!different) {
		goldens_forget(file);
		return 0;
	}
	if (goldens_write(&r->goldens, file, r->opts->accept, err)) {
		return -1;
	}
	if (r->opts->accept) {
		goldens_forget(file);
	}
	if (reports_have_table(r->reports)) {
		buf_printf(&r->out.text, r->opts->accept ? "accepted: %s\n" : "written: %s.new\n",
		           file);
	}
	return 0;
}

static int compare_all(struct replaying *r, struct error *err)
{
	for (size_t i = 0; i < r->goldens.count; i++) {
		compare_one(r, &r->goldens.items[i]);
		if (output_flush_some(&r->out, err)) {
			return -1;
		}
	}
	for (size_t i = 0; i < r->files.count; i++) {
		if (write_file(r, r->files.paths[i], err)) {
			return -1;
		}
	}
	return 0;
}

static void say_end(struct replaying *r)
{
	const struct compare_count *c = &r->count;
	struct buf *out = &r->out.text;

	if (!reports_have_table(r->reports)) {
		return;
	}
	mask_hints_say(&r->hints, out);
	buf_text(out, r->hints.count ? "\n" : "");
	report_difference_summary(c, false, out);
	if (r->context->quiet) {
		return;
	}
	if (!c->different && c->rollouts) {
		buf_printf(out, "no differences · %zu rollout%s · %zu step%s\n", c->rollouts,
		           c->rollouts == 1 ? "" : "s", c->steps, c->steps == 1 ? "" : "s");
	} else if (c->different && !r->opts->out) {
		buf_printf(out, "recorded: %s\n", buf_cstr(&r->path));
	}
}

/* The worst wins. */
static int exit_code(const struct replaying *r, const struct batch_count *count)
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
	return r->differs;
}

/* What was found so far is worth seeing. */
static void give_up(struct replaying *r, struct error *err)
{
	struct error ignored;

	env_target_hide(&r->target, err);
	reports_give_up(r->reports, NULL, NULL, err);
	(void)!output_flush(&r->out, &ignored);
}

static int conclude(struct replaying *r, const struct batch_count *count, struct error *err)
{
	struct error closing = {0};

	int failed = compare_all(r, err);
	if (failed) {
		give_up(r, err);
	} else {
		say_end(r);
		failed = reports_close(r->reports, NULL, &r->count, err) ||
		         output_flush(&r->out, err);
	}
	if (r->peer.kind != FAIL_NONE) {
		log_error("%s: %s", r->target.name, r->peer.text);
	}
	if (recorder_close(r->recorder, &closing) && !failed) {
		*err = closing;
		failed = -1;
	}
	r->recorder = NULL;
	return failed ? -1 : exit_code(r, count);
}

static int drive(struct replaying *r, size_t jobs, struct batch_count *count, struct error *err)
{
	struct batch_conf conf = {.count = r->goldens.count,
	                          .jobs = jobs,
	                          .stop_fd = r->context->stop_fd,
	                          .new_io = new_io,
	                          .rollout = replay_one,
	                          .ctx = r};

	return batch_run(&conf, count, err);
}

static void tear_down(struct replaying *r)
{
	struct error ignored;

	(void)!recorder_close(r->recorder, &ignored); /* an earlier failure is what is told */
	env_target_release(&r->target);
	goldens_release(&r->goldens);
	file_list_free(&r->files);
	page_cache_free(r->pages);
	volatile_members_free(r->volatile_members);
	scratch_pool_free(r->scratch);
	reports_free(r->reports);
	mask_hints_release(&r->hints);
	mask_hints_release(&r->case_hints);
	tolerances_release(&r->tolerances);
	difference_printer_release(&r->printer);
	output_release(&r->out);
	buf_release(&r->path);
	pthread_mutex_destroy(&r->lock);
	pthread_mutex_destroy(&r->order);
}

static int replay_run(const struct context *c, const void *opts, int argc, char **argv,
                      struct error *err)
{
	const struct replay_options *o = opts;
	struct replaying r = {.context = c,
	                      .opts = o,
	                      .pages = page_cache_new(),
	                      .volatile_members = volatile_members_new(),
	                      .scratch = scratch_pool_new(),
	                      .path = BUF(BUF_MAX_SMALL),
	                      .out = output_to_stdout(),
	                      .printer = {.style = c->style}};
	struct batch_count count;
	size_t jobs;

	pthread_mutex_init(&r.lock, NULL);
	pthread_mutex_init(&r.order, NULL);
	int code = set_up(&r, argc, argv, &jobs, err) || drive(&r, jobs, &count, err)
	                   ? -1
	                   : conclude(&r, &count, err);
	if (code < 0) {
		give_up(&r, err);
	}
	tear_down(&r);
	return code;
}

const struct command command_replay = {
	.name = "replay",
	.summary = "send a recording's calls to a live environment and compare what comes back",
	.operands = "GOLDEN...",
	.description =
		"A golden is a recording, best stripped: files, or the *.jsonl of a folder. Each of "
		"its rollouts is replayed in a session of its own with the recorded seed and reset "
		"arguments: the same calls in the same order, whatever the answers are. State, "
		"outcome, error class, observation, reward, terminated and truncated of each step "
		"are compared as diff does. Not compared: what --mask and the masks of the golden "
		"name, what either state source ignores, what changed by itself before the first "
		"call. What came in place of a golden that differs is written to GOLDEN.new, and "
		"the golden is left alone; --accept replaces it. The exit code is 0 if nothing "
		"differs, 1 if something does, 3 if a golden cannot be used, 4 if the environment "
		"was not reached.",
	.min_operands = 1,
	.max_operands = -1,
	.opts = options,
	.opt_count = ARRAY_LEN(options),
	.opts_size = sizeof(struct replay_options),
	.network = true,
	.run = replay_run,
};
