/* rolldbg replay: sends the calls of goldens to a live environment and compares the results. */
#include "base/log.h"
#include "base/names.h"
#include "base/text.h"
#include "cmd/debug.h"
#include "cmd/golden/accept.h"
#include "cmd/golden/driver.h"
#include "cmd/golden/goldens.h"
#include "cmd/golden/suite.h"
#include "cmd/options/compare_options.h"
#include "cmd/options/output.h"
#include "cmd/options/setting_options.h"
#include "cmd/plan.h"
#include "cmd/reports.h"
#include "cmd/store/store.h"
#include "compare/tool_changes.h"
#include "recording/recorder.h"
#include "report/difference_stat.h"
#include "report/differences.h"
#include "rollout/batch.h"

#include <inttypes.h>

#define OPTIONS replay
#include "cmd/options/table.h"

struct replaying {
	const struct context *context;
	const struct replay_options *opts;
	enum update update;
	enum review_answer for_all; /* of --review; REVIEW_NONE: ask for each */
	struct file_list files;
	struct goldens goldens;
	struct suite suite;
	struct compare_rules rules;
	struct driver driver;
	struct recorder *recorder;
	struct buf path; /* of the recording */
	struct output out;
	struct reports *reports;
	struct difference_printer printer;
	struct compare_count count;
	struct golden *golden; /* the one being compared */
	struct names said;     /* changes of tools, each said once */
	struct difference_tally tally;
	bool began;   /* its first difference is at the begin */
	size_t again; /* goldens of which that is true and not explained by masks */
	bool differs; /* some difference was not accepted */
};

/* ---- one rollout, in its thread ---- */

static void take_result(struct replaying *r, struct golden *g, const struct rollout_result *result)
{
	g->opened = result->opened;
	g->compared = trial_is_whole(result);
	pthread_mutex_lock(&r->driver.lock);
	if (result->peer.kind != FAIL_NONE) {
		struct error lost = result->peer;

		env_target_hide(&r->driver.target, &lost);
		g->lost = BUF(BUF_MAX_SMALL);
		settings_put(&g->lost, lost.text);
	}
	pthread_mutex_unlock(&r->driver.lock);
}

/* True if further rollouts would fail as well. */
static bool has_stopped(struct replaying *r)
{
	pthread_mutex_lock(&r->driver.lock);
	bool stopped = r->driver.unreached && !r->opts->keep_going;
	pthread_mutex_unlock(&r->driver.lock);
	return stopped;
}

static int replay_one(void *ctx, size_t index, struct io *io, struct rollout_result *result,
                      struct error *err)
{
	struct replaying *r = ctx;
	struct golden *g = &r->goldens.items[index];

	if (has_stopped(r)) {
		*result = (struct rollout_result){.status = END_UNREACHABLE};
		return 0;
	}
	/* a call that no longer fits the schema is a difference, not an error */
	const struct trial trial = {.golden = g,
	                            .policy = {.calls = g->calls, .force_call = !g->unrecorded},
	                            .copy = &g->got,
	                            .strip = g->strip,
	                            .recorder = r->recorder};
	uint64_t began_ns = io_now_ns(io);
	g->started = true;
	if (trial_run(&r->driver, &trial, io, result, err))
		return -1;
	g->took_ms = (io_now_ns(io) - began_ns) / 1000000;
	take_result(r, g, result);
	return 0;
}

/* ---- setting up ---- */

static int settle_jobs(const struct replaying *r, size_t *jobs, struct error *err)
{
	const char *repeated;

	*jobs = opt_number(r->opts->jobs, 1);
	if (*jobs == 1)
		return 0;
	repeated = goldens_repeated_id(&r->goldens);
	if (repeated) {
		log_warn("two goldens have the rollout id %s: replayed one at a time (record them "
		         "with different --task names)",
		         repeated);
		*jobs = 1;
		return 0;
	}
	*jobs = *jobs < r->goldens.count ? *jobs : r->goldens.count;
	return descriptors_allow(*jobs, err);
}

static int open_recording(struct replaying *r, struct error *err)
{
	const char *out = r->opts->out;
	struct recorder_conf conf = {
		.force = r->opts->force, .private = !out, .secrets = r->driver.target.secrets};

	if (out)
		buf_text(&r->path, out);
	else if (store_new_file(r->context, &r->path, err))
		return -1;
	conf.path = buf_cstr(&r->path);
	if (recorder_new(&conf, &r->recorder, err))
		return -1;
	return 0;
}

static int set_up(struct replaying *r, int argc, char **argv, size_t *jobs, struct error *err)
{
	const struct replay_options *o = r->opts;
	struct env_target *target = &r->driver.target;

	r->files.may_be_empty = o->suite.tasks; /* its goldens are to be recorded, or missing */
	r->goldens.tool_map = &o->recorded.tool_map;
	return accept_choose(&o->accept, r->context, &r->update, err) ||
	       compare_rules_read(&r->rules, &o->compare, err) ||
	       reports_open(&o->report, r->context, &r->out.text, NULL, &r->reports, err) ||
	       env_target_prepare(target, r->context, &o->target, err) ||
	       file_list_add(argv, (size_t)argc, &r->files, err) ||
	       goldens_check_out(&r->files, o->out, err) ||
	       suite_open(&r->suite, r->context, &o->suite, argv, (size_t)argc, &r->files, err) ||
	       goldens_read(&r->goldens, &r->files, &o->compare.masks, &r->rules.patterns, err) ||
	       goldens_check_environment(&r->goldens, &o->target, err) ||
	       (r->update != UPDATE_NONE && r->update != UPDATE_REVIEW &&
	        suite_add_missing(&r->suite, &r->goldens, &r->files, argv[0], &o->compare.masks,
	                          err)) ||
	       settle_jobs(r, jobs, err) || env_target_start(target, err) || open_recording(r, err);
}

/* ---- sentences about a golden ---- */

/* The first tool that the golden calls and the environment does not have; absent: none. */
static struct str missing_tool(const struct golden *g)
{
	struct str tools = g->got.header.value[KEY_TOOLS], name;

	for (size_t i = 0; i < g->want.count && json_type(tools) == JSON_ARRAY; i++) {
		name = JSON_GET(g->want.steps[i].value[KEY_TOOL_CALL], "name");
		if (json_type(name) == JSON_STRING && !json_named(tools, name).p)
			return name;
	}
	return STR_NONE;
}

/* It is of another environment; or of another program, whose tool has another name there. */
static void advise_tools(struct names *said, const struct golden *g)
{
	struct str want = g->want.header.value[KEY_ENV], got = g->got.header.value[KEY_ENV];
	struct str name = missing_tool(g), tool = json_first(g->got.header.value[KEY_TOOLS]);
	AUTO_BUF from = BUF(BUF_MAX_SMALL), to = BUF(BUF_MAX_SMALL), lacks = BUF(BUF_MAX_SMALL);
	bool imported = JSON_GET(want, "facts").p;

	if (!name.p || (imported && !tool.p))
		return;
	text_escape(&lacks, json_inner(name));
	text_escape(&from, json_inner(JSON_GET(want, "name")));
	text_escape(&to, json_inner(JSON_GET(imported ? tool : got, "name")));
	if (imported && names_note(said, buf_view(&lacks))) {
		log_warn("%s calls '%s', and the environment has no such tool; if its '%s' "
		         "is meant: --tool-map %s=%s",
		         g->file, buf_cstr(&lacks), buf_cstr(&to), buf_cstr(&lacks), buf_cstr(&to));
	} else if (!imported && !str_eq(buf_view(&from), buf_view(&to))) {
		log_warn("%s: rollout %.*s: this golden is of %s; the environment is %s and has no "
		         "tool '%s'",
		         g->file, STR_ARG(g->want.id), buf_cstr(&from), buf_cstr(&to),
		         buf_cstr(&lacks));
	}
}

static void advise_not_compared(const struct golden *g)
{
	if (g->started) {
		log_warn("%s: rollout %.*s was not replayed in full; not compared", g->file,
		         STR_ARG(g->want.id));
	}
}

/* Is it in the reset or the first state? */
static bool difference_is_at_begin(const struct difference *first)
{
	return first->line && (first->line->type == LINE_RESET ||
	                       (first->line->type == LINE_STEP && first->line->step == 0 &&
	                        str_starts(first->pointer, STR("/state"))));
}

/* Why a rollout was not compared, or NULL. */
static const char *advice_problem(const struct golden *g)
{
	return g->compared  ? NULL
	       : g->lost.n  ? buf_cstr(&g->lost)
	       : g->started ? "not replayed in full"
	                    : "not tried after the environment could not be reached";
}

static bool open_again(struct driver *d, const struct golden *g, struct rollout_copy *copy)
{
	const struct trial trial = {
		.golden = g, .policy = {.calls = STR("[]")}, .copy = copy, .strip = g->strip};
	struct rollout_result result = {.opened = false};
	struct io *io = NULL;
	/* the replay's own result stands */
	bool opened = !driver_new_io(d, &io, ERROR_IGNORED) &&
	              !trial_run(d, &trial, io, &result, ERROR_IGNORED) && result.opened;

	io_free(io);
	return opened && copy->end.text.p;
}

/* Without the calls: what the reset replied, and the first state. */
static struct rollout_copy begin_of(const struct rollout_copy *r, const struct line *end)
{
	struct rollout_copy begin = {.id = r->id, .header = r->header, .reset = r->reset};

	begin.end = *end;
	begin.end.value[KEY_STATE] =
		r->count ? r->steps[0].value[KEY_STATE] : r->end.value[KEY_STATE];
	return begin;
}

/* One more session for a golden whose episode began differently: has the environment changed, or does
   it begin differently each time? Opens a session as the replay did, sends no call, and compares its
   begin with the replay's; says nothing if no session was opened. */
static void begin_again(struct driver *d, struct golden *g, const struct compare_conf *conf)
{
	struct rollout_copy again = {.count = 0};
	struct compare_conf silent = *conf;
	struct compare_count count = {.rollouts = 0};
	char seed[48] = "";

	silent.take = NULL;
	silent.tools = TOOLS_IGNORED;
	if (open_again(d, g, &again)) {
		struct rollout_copy first = begin_of(&g->got, &again.end);
		struct rollout_copy second = begin_of(&again, &again.end);

		compare_rollouts(&first, &second, &silent, &count);
		if (g->has_seed)
			snprintf(seed, sizeof(seed), " with seed %" PRId64, g->seed);
		log_warn(
			"%s: rollout %.*s began differently; in one more session%s the environment "
			"%s",
			g->file, STR_ARG(g->want.id), seed,
			!count.differences ? "begins as in the replay: it has changed since the "
					     "golden was recorded"
			: g->has_seed      ? "differs from itself: it ignores its seed"
				      : "differs from itself: its episodes are random (record the "
					"golden with --seed), or it shows the time");
	}
	rollout_copy_release(&again);
}

/* ---- comparing ---- */

/* "text tool change: /tools/move/description changed" */
static void say_tool(void *ctx, const struct tool_change *t)
{
	struct replaying *r = ctx;
	AUTO_BUF text = BUF(BUF_MAX_SMALL);

	buf_printf(&text, "%s tool change: ", tool_change_class_name(t->class));
	text_escape_cut(&text, t->pointer, 200);
	buf_printf(&text, " %s", !t->expected.p ? "added" : !t->got.p ? "removed" : "changed");
	if (names_note(&r->said, buf_view(&text)))
		log_warn("%s: %s", r->golden->file, buf_cstr(&text));
}

static void take_difference(void *ctx, const struct difference *d)
{
	struct replaying *r = ctx;
	struct golden *g = r->golden;

	r->began = g->count.differences == 1 ? difference_is_at_begin(d) : r->began;
	tally_difference(&r->tally, d);
	reports_difference(r->reports, &r->printer, d);
	if (reports_have_table(r->reports))
		report_difference(&r->printer, d, &r->out.text);
}

/* `problem`: why it was not compared, or NULL. */
static void report_golden(struct replaying *r, const struct golden *g, const char *problem)
{
	AUTO_BUF hint = BUF(BUF_MAX_MESSAGE);
	bool counts = g->count.differences && !g->accepted;
	struct report_case c = {.file = g->file,
	                        .line = g->want.header.number,
	                        .rollout = g->want.id,
	                        .task = g->task,
	                        .took_ms = g->took_ms,
	                        .compared = problem ? NULL : &g->count,
	                        .problem = problem};

	if (g->unrecorded && g->accepted)
		c.golden = "recorded";
	c.result = problem ? CASE_ERROR : counts ? CASE_FAILED : CASE_PASSED;
	proposals_say(&g->proposals, &hint);
	c.hint = hint.n ? buf_cstr(&hint) : NULL;
	reports_case(r->reports, &c);
}

static void compare_one(struct replaying *r, struct golden *g)
{
	struct compare_conf conf = {.replayed = true,
	                            .tools = tools_rule_of(&r->opts->tools),
	                            .tool_said = say_tool,
	                            .take = take_difference,
	                            .ctx = r};
	const struct line *l;

	if (!g->compared) {
		advise_not_compared(g);
		return;
	}
	if (g->unrecorded)
		return;
	compare_rules_apply(&r->rules, &conf);
	tally_rollout(&r->tally);
	r->golden = g;
	r->printer.file = g->file;
	r->printer.replayed = (struct replayed_pair){&g->want, &g->got};
	advise_tools(&r->said, g);
	compare_rollouts(&g->want, &g->got, &conf, &g->count);
	compare_add(&r->count, &g->count);
	for (size_t i = 0; (l = rollout_copy_line(&g->got, i)); i++)
		patterns_see(&r->rules.patterns, l->text);
	conf.tools = TOOLS_IGNORED; /* no mask is proposed for them */
	if (g->count.differences) {
		proposals_find(&g->proposals, &g->want, &g->got, &conf);
		if (r->began && !r->opts->target.seed.given && !g->proposals.count && !r->again++)
			begin_again(&r->driver, g, &conf);
	}
}

static int ask(struct replaying *r, struct golden *g, struct error *err)
{
	enum review_answer answer = r->for_all;
	AUTO_BUF question = BUF(BUF_MAX_SMALL);

	text_escape(&question, str_from(g->file));
	buf_text(&question, ": rollout ");
	text_escape(&question, g->want.id);
	int failed = output_flush(&r->out, err) ||
	             (answer == REVIEW_NONE &&
	              review_ask(buf_cstr(&question), r->context->stop.fd, &answer, err));
	if (answer == REVIEW_ACCEPT_ALL || answer == REVIEW_QUIT)
		r->for_all = answer;
	g->accepted = answer == REVIEW_ACCEPT || answer == REVIEW_ACCEPT_ALL;
	g->rejected = answer == REVIEW_REJECT;
	return failed ? -1 : 0;
}

/* Decides whether the golden is accepted: asks on the terminal, or applies --update. */
static int settle_one(struct replaying *r, struct golden *g, struct error *err)
{
	if (g->unrecorded) {
		g->accepted = g->compared && g->opened;
		return 0;
	}
	if (!g->count.differences || !g->opened)
		return 0;
	if (r->update >= UPDATE_ALL && g->compared && !accept_may_replace(g))
		return 0;
	g->accepted = r->update == UPDATE_ALL;
	return r->update == UPDATE_REVIEW ? ask(r, g, err) : 0;
}

static int write_golden(struct replaying *r, const char *file, bool over, const char *what,
                        struct error *err)
{
	if (goldens_write(&r->goldens, file, over, err))
		return -1;
	if (reports_have_table(r->reports) && !r->context->quiet) {
		buf_printf(&r->out.text, "%s: ", what);
		text_escape(&r->out.text, str_from(file));
		buf_text(&r->out.text, over ? "\n" : ".new\n");
	}
	return 0;
}

/* Only a complete replay may become a new golden. */
static int write_file(struct replaying *r, const char *file, struct error *err)
{
	struct file_verdict v = goldens_verdict(&r->goldens, file);
	bool writable = v.whole && strcmp(file, "-") != 0 && r->update != UPDATE_NONE;

	size_t open = v.different - (writable ? v.accepted : 0);

	r->differs = r->differs || open;
	if (!writable)
		return 0;
	if ((v.accepted || v.recorded) &&
	    write_golden(r, file, true, v.recorded ? "recorded" : "accepted", err)) {
		return -1;
	}
	if (open > v.rejected)
		return write_golden(r, file, false, "written", err);
	goldens_forget(file);
	return 0;
}

static int compare_all(struct replaying *r, struct error *err)
{
	for (size_t i = 0; i < r->goldens.count; i++) {
		struct golden *g = &r->goldens.items[i];

		compare_one(r, g);
		if (settle_one(r, g, err))
			return -1;
		report_golden(r, g, advice_problem(g));
		if (output_flush_some(&r->out, err))
			return -1;
	}
	for (size_t i = 0; i < r->files.count; i++)
		if (write_file(r, r->files.paths[i], err))
			return -1;
	return 0;
}

static void say_end(struct replaying *r)
{
	const struct compare_count *c = &r->count;
	struct buf *out = &r->out.text;

	if (!reports_have_table(r->reports))
		return;
	goldens_propose(&r->goldens, out);
	if (r->context->quiet)
		return;
	tally_print(&r->tally, out);
	report_difference_summary(c, false, out);
	if (!c->different && c->rollouts) {
		buf_printf(out, "no differences · %zu rollout%s · %zu step%s\n", c->rollouts,
		           plural(c->rollouts), c->steps, plural(c->steps));
	} else if (c->different && !r->opts->out) {
		text_put_path(out, "recorded", buf_cstr(&r->path));
	}
}

/* The most serious result determines the code. */
static void say_peer(const struct replaying *r)
{
	const struct driver *d = &r->driver;
	size_t left = 0;

	for (size_t i = 0; i < r->goldens.count; i++)
		left += !r->goldens.items[i].started;
	if (d->peer.kind != FAIL_NONE)
		target_say_lost(d->target.name, d->peer.text);
	if (left && d->unreached) {
		log_warn("%zu rollout%s not tried after that (--keep-going tries all)", left,
		         left == 1 ? " was" : "s were");
	}
}

/* Prints the results found so far. */
static void give_up(struct replaying *r, struct error *err)
{
	env_target_hide(&r->driver.target, err);
	reports_give_up(r->reports, NULL, NULL, err);
	(void)!output_flush(&r->out, ERROR_IGNORED);
}

/* `latest` stays what it was if no rollout got an environment. */
static int link_latest(const struct replaying *r, struct error *err)
{
	size_t i = 0;

	while (i < r->goldens.count && !r->goldens.items[i].opened && !r->goldens.items[i].compared)
		i++;
	return r->opts->out || i == r->goldens.count
	               ? 0
	               : store_set_latest(r->context, buf_cstr(&r->path), err);
}

static int conclude(struct replaying *r, const struct batch_count *count, struct error *err)
{
	bool whole = count->done == count->total && !count->failed && !count->unreachable &&
	             !count->lost && !count->interrupted;

	if (count->interrupted || count->done < count->total) {
		log_warn("interrupted: %zu of %zu rollouts were replayed", count->done,
		         count->total);
	}
	say_peer(r); /* the cause of the rollouts that are not compared */
	int failed = goldens_check_begin(&r->goldens, &r->opts->target, err) || compare_all(r, err);
	if (failed) {
		give_up(r, err);
	} else {
		suite_judge(&r->suite, &r->goldens, whole, r->reports, &r->out.text);
		say_end(r);
		failed = reports_close(r->reports, NULL, &r->count, err) ||
		         output_flush(&r->out, err);
	}
	compare_rules_warn(&r->rules, "the goldens");
	if (!failed)
		failed = link_latest(r, err);
	if (recorder_close(r->recorder, failed ? ERROR_IGNORED : err))
		failed = -1;
	r->recorder = NULL;
	return failed ? -1
	              : driver_exit_code(count,
	                                 r->differs || r->suite.obsolete || r->suite.missing);
}

static void tear_down(struct replaying *r)
{
	(void)!recorder_close(r->recorder, ERROR_IGNORED); /* the earlier error is reported */
	driver_release(&r->driver);
	goldens_release(&r->goldens);
	suite_release(&r->suite);
	file_list_free(&r->files);
	compare_rules_release(&r->rules);
	names_release(&r->said);
	tally_release(&r->tally);
	difference_printer_release(&r->printer);
	reports_free(r->reports);
	output_release(&r->out);
	buf_release(&r->path);
}

static int replay_in_debugger(const struct context *c, const struct replay_options *o, int argc,
                              char **argv, struct error *err)
{
	struct debug_options d = {.target = o->target};

	if (argc != 1)
		return error_set(err, FAIL_USAGE, "--until-divergence takes one GOLDEN");
	return goldens_check_file(argv[0], &o->target, err) ? -1
	                                                    : debug_divergence(c, &d, argv[0], err);
}

static int replay_main(const struct context *c, const void *opts, int argc, char **argv,
                       struct error *err)
{
	const struct replay_options *o = opts;

	if (o->until_divergence)
		return replay_in_debugger(c, o, argc, argv, err);
	struct replaying r = {.context = c,
	                      .opts = opts,
	                      .path = BUF(BUF_MAX_SMALL),
	                      .out = output_to_stdout(),
	                      .printer = {.style = c->style}};
	struct batch_count count;
	struct batch_conf batch = {.rollout = replay_one, .ctx = &r};

	driver_init(&r.driver, c);
	int failed = set_up(&r, argc, argv, &batch.jobs, err);
	batch.count = r.goldens.count;
	int code = failed || driver_batch(&r.driver, c, batch, &count, err)
	                   ? -1
	                   : conclude(&r, &count, err);
	if (code < 0)
		give_up(&r, err);
	tear_down(&r);
	return code;
}

CODE(replay)
