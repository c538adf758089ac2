/* rolldbg debug: step through a recording or a running rollout. */
#include "cmd/debug.h"

#include "base/mem.h"
#include "cmd/golden/driver.h"
#include "cmd/golden/goldens.h"
#include "cmd/options/output.h"
#include "cmd/options/policies.h"
#include "cmd/options/setting_options.h"
#include "cmd/store/recordings.h"
#include "cmd/store/store.h"
#include "debug/debug.h"
#include "debug/expression.h"
#include "policy/policy.h"
#include "recording/recorder.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define TURNS_BY_HAND 10000 /* limit where there is no policy */

#define ROWS debug
#include "cmd/options/rows.h"

struct debugging {
	const struct context *context;
	const struct debug_options *opts;
	struct driver driver;
	struct buf policy_path;
	const char *policy;
	struct goldens recorded; /* rollouts whose calls are the policy; may be empty */
	struct llm_conf *llm;
	struct output out, trouble;
	struct buf latest, history;
	const char *name; /* the recording's name, as given */
	FILE *copy;       /* copy of a pipe, or of a recording in another format; NULL: none */
	char copy_path[40];
	bool out_used; /* --out is in use: later sessions get files of their own */
	bool compares; /* a divergence from the recording is exit code 1 */
};

/* ---- a live session ---- */

static int choose_recording(void *ctx, struct buf *path, struct error *err)
{
	struct debugging *g = ctx;

	if (g->opts->out && !g->out_used) {
		g->out_used = true;
		buf_text(path, g->opts->out);
		return 0;
	}
	return store_new_file(g->context, path, err);
}

static struct policy_conf policy_of(const struct debugging *g)
{
	const struct debug_options *o = g->opts;

	struct policy_conf conf = action_conf(
		&o->action, o->actions,
		&(struct call_list){.item = o->action.calls.item, .count = o->action.calls.count});

	conf.spec = g->policy;
	conf.calls = goldens_policy(&g->recorded);
	conf.llm = g->llm;
	conf.force_call = o->force_call;
	return conf;
}

static struct rollout_conf conf_of(struct debugging *g, const struct live_request *q, struct io *io)
{
	const struct debug_options *o = g->opts;
	struct rollout_conf conf = driver_conf(&g->driver, io);

	conf.task = q->again ? q->task : o->task;
	conf.sample = q->again ? q->sample : 0;
	conf.wrap = q->wrap;
	conf.wrap_ctx = q->wrap_ctx;
	conf.sinks = &q->sink;
	conf.sink_count = 1;
	conf.parent = q->parent;
	conf.parent_steps = q->parent_steps;
	conf.parent_file = q->parent_file;
	if (q->again) {
		conf.policy = (struct policy_conf){.calls = q->calls, .force_call = true};
		conf.env.has_seed = q->has_seed;
		conf.env.seed = q->seed;
		conf.env.reset_args = q->reset;
		if (q->state.n && !o->target.state)
			conf.env.state_spec = q->state;
	} else {
		conf.policy = policy_of(g);
		conf.has_max_turns = !o->actions && !o->action.calls.count && !g->policy &&
		                     !g->recorded.count && !g->llm;
		conf.max_turns = TURNS_BY_HAND;
	}
	driver_limit_turns(&conf, &o->max_turns);
	return conf;
}

/* The debugger interrupts the rollout's io; the signal does not do so directly. */
static int new_io(const struct debugging *g, int stop_fd, struct io **out, struct error *err)
{
	struct context own = *g->context;
	struct env_target target = g->driver.target;

	own.stop = (struct wake){stop_fd, -1};
	target.context = &own;
	return env_target_new_io(&target, out, err);
}

/* Minutes may pass between two sessions, and the server may change: each one looks for volatile
   members, and must match the options, by itself. */
static int drive(struct debugging *g, struct rollout_conf *conf, struct rollout_result *out,
                 struct error *err)
{
	conf->volatile_members = volatile_members_new();
	conf->options_fit = NULL;
	int failed = driver_rollout(&g->driver, conf, out, err);
	volatile_members_free(conf->volatile_members);
	return failed;
}

static int run_live(void *ctx, const struct live_request *q, const char *path,
                    struct rollout_result *out, struct error *err)
{
	struct debugging *g = ctx;
	bool named = g->opts->out && !strcmp(path, g->opts->out);
	struct io *io;
	struct recorder_conf to = {.path = path,
	                           .force = named && g->opts->force,
	                           .private = !named,
	                           .secrets = g->driver.target.secrets};

	if (new_io(g, q->stop_fd, &io, err))
		return -1;
	struct rollout_conf conf = conf_of(g, q, io);
	int failed = recorder_new(&to, &conf.recorder, err);
	bool opened = !failed;
	if (opened)
		failed = drive(g, &conf, out, err);
	if (opened && recorder_close(conf.recorder, failed ? ERROR_IGNORED : err))
		failed = -1;
	if (opened && !recordings_remove_empty(path) && !named)
		failed = failed || store_set_latest(g->context, path, err) ? -1 : 0;
	io_free(io);
	if (failed)
		env_target_hide(&g->driver.target, err);
	return failed;
}

/* ---- the terminal ---- */

static bool was_interrupted(void *ctx)
{
	const struct debugging *g = ctx;
	struct pollfd p = {.fd = g->context->stop.fd, .events = POLLIN};

	return poll(&p, 1, 0) > 0;
}

/* Ctrl-C stops the rollout that is running; other signals stop the program. */
static bool resume(void *ctx)
{
	const struct debugging *g = ctx;

	return g->context->take_stop() == SIGINT;
}

static int print(void *ctx, bool trouble, struct str text, struct error *err)
{
	struct debugging *g = ctx;
	struct output *to = trouble ? &g->trouble : &g->out;

	buf_str(&to->text, text);
	if (output_flush(to, err))
		return -1;
	return to->closed ? error_set(err, FAIL_NONE, "standard output is closed") : 0;
}

/* ---- setting up ---- */

static bool is_live(const struct debug_options *o)
{
	return o->target.env || o->actions || o->action.calls.count || o->policy || o->live;
}

static int check_options(const struct debug_options *o, int argc, char **argv, struct error *err)
{
	bool proposes = o->actions || o->action.calls.count || o->policy;

	if (argc && proposes) {
		return error_set(
			err, FAIL_USAGE,
			"--call, --actions and --policy cannot be combined with FILE: when a "
			"recording is run again, its own calls are proposed");
	}
	if (argc && !strcmp(argv[0], "-")) {
		return error_set(err, FAIL_USAGE,
		                 "standard input holds commands: name a file as the recording");
	}
	if (o->out && (!is_live(o) || argc))
		return error_set(err, FAIL_USAGE, "--out needs a live session");
	if (o->rollout && !argc && is_live(o))
		return error_set(err, FAIL_USAGE, "--rollout needs a recording");
	return 0;
}

static int check_policy(const struct debugging *g, struct error *err)
{
	struct policy_conf conf = policy_of(g);

	return policy_check(&conf, err);
}

static int prepare_target(struct debugging *g, struct error *err)
{
	const struct debug_options *o = g->opts;

	if (!is_live(o))
		return 0;
	return env_target_prepare(&g->driver.target, g->context, &o->target, err) ||
	       policies_find(g->context->variable, o->policy, &g->policy_path, &g->policy, err) ||
	       goldens_read_policy(&g->recorded, &g->policy, NULL, err) ||
	       model_read(g->context, g->policy, &o->model, &g->driver.target, &g->llm, err) ||
	       check_policy(g, err) || env_target_start(&g->driver.target, err);
}

/* Input that cannot be seeked is copied to an unlinked file, named by its descriptor. */
static int copy_if_needed(struct debugging *g, const char **path, struct error *err)
{
	if (recording_copy(*path, NULL, &g->copy, err))
		return -1;
	if (g->copy) {
		fflush(g->copy);
		snprintf(g->copy_path, sizeof(g->copy_path), "/proc/self/fd/%d", fileno(g->copy));
		*path = g->copy_path;
	}
	return 0;
}

/* An error about the copy names what was copied. */
static void name_source(const struct debugging *g, struct error *err)
{
	struct error about_copy = *err;

	if (g->copy && str_starts(str_from(err->text), str_from(g->copy_path))) {
		error_set(err, about_copy.kind, "%s%s", g->name,
		          about_copy.text + strlen(g->copy_path));
	}
}

static int choose_file(struct debugging *g, int argc, char **argv, const char **path,
                       struct error *err)
{
	*path = argc ? argv[0] : NULL;
	if (!argc && is_live(g->opts))
		return 0;
	if (!argc && store_latest(g->context, &g->latest, err))
		return -1;
	*path = argc ? argv[0] : buf_cstr(&g->latest);
	g->name = *path;
	return copy_if_needed(g, path, err);
}

/* The history file is in the directory of recordings; no history before that directory exists. */
static const char *history_of(struct debugging *g, bool terminal)
{
	if (!terminal || store_directory(g->context->variable, &g->history, ERROR_IGNORED))
		return NULL;
	buf_text(&g->history, "/debug-history");
	return buf_cstr(&g->history);
}

static int debug_session(struct debugging *g, const char *path, struct error *err)
{
	const struct debug_options *o = g->opts;
	bool json = o->interpreter && !strcmp(o->interpreter, "json");
	bool terminal = g->context->style.terminal && isatty(STDIN_FILENO) == 1 && !json && !o->dap;
	const struct live_target target = {choose_recording, run_live, g};
	const struct debug_conf conf = {.path = path,
	                                .name = g->name,
	                                .rollout = o->rollout,
	                                .target = is_live(o) ? &target : NULL,
	                                .files = o->files.item,
	                                .file_count = o->files.count,
	                                .commands = o->commands.item,
	                                .command_count = o->commands.count,
	                                .batch = o->batch,
	                                .json = json,
	                                .dap = o->dap,
	                                .quiet = g->context->quiet,
	                                .history = history_of(g, terminal),
	                                .style = g->context->style,
	                                .terminal = terminal,
	                                .interrupted = was_interrupted,
	                                .resume = resume,
	                                .spell = settings_as_options,
	                                .print = print,
	                                .ctx = g};
	struct debug_result result;

	if (debug_run(&conf, &result, err)) {
		name_source(g, err);
		return g->out.closed ? 0 : -1;
	}
	return result.failed ? 2 : g->compares && result.diverged ? 1 : 0;
}

static void release(struct debugging *g)
{
	if (g->copy)
		fclose(g->copy);
	driver_release(&g->driver);
	goldens_release(&g->recorded);
	llm_conf_free(g->llm);
	output_release(&g->out);
	output_release(&g->trouble);
	BUFS_RELEASE(&g->policy_path, &g->latest, &g->history);
}

/* `compares`: a divergence from the recording is exit code 1. */
static int debug_run_options(const struct context *c, const struct debug_options *o, bool compares,
                             int argc, char **argv, struct error *err)
{
	struct debugging g = {.context = c,
	                      .opts = o,
	                      .compares = compares,
	                      .policy_path = BUF(BUF_MAX_SMALL),
	                      .latest = BUF(BUF_MAX_SMALL),
	                      .history = BUF(BUF_MAX_SMALL),
	                      .out = output_to_stdout(),
	                      .trouble = output_to_stderr()};
	const char *path;

	driver_init(&g.driver, c);
	int code = check_options(o, argc, argv, err) || choose_file(&g, argc, argv, &path, err) ||
	                           prepare_target(&g, err)
	                   ? -1
	                   : debug_session(&g, path, err);

	if (code < 0)
		env_target_hide(&g.driver.target, err);
	release(&g);
	return code;
}

static int debug_main(const struct context *c, const void *opts, int argc, char **argv,
                      struct error *err)
{
	return debug_run_options(c, opts, false, argc, argv, err);
}

/* ---- for other commands ---- */

static void add_command(struct debug_options *o, const char *command)
{
	o->commands.item[o->commands.count++] = command;
}

int debug_until(const struct context *c, struct debug_options *o, const char *expression,
                struct error *err)
{
	AUTO_BUF command = BUF(BUF_MAX_SMALL);
	struct expression *e;
	size_t at;

	if (expression_parse(str_from(expression), &e, &at, err))
		return error_wrap(err, "--break: column %zu", at + 1);
	expression_free(e);
	buf_printf(&command, "tbreak %s", expression);
	add_command(o, buf_cstr(&command));
	add_command(o, "continue");
	return debug_run_options(c, o, false, 0, NULL, err);
}

int debug_divergence(const struct context *c, struct debug_options *o, const char *file,
                     struct error *err)
{
	char *path = mem_text(str_from(file));

	o->live = true;
	add_command(o, "goto end");
	add_command(o, "rerun-to");
	int code = debug_run_options(c, o, true, 1, &path, err);
	free(path);
	return code;
}

CODE(debug)
