/* rolldbg run: drive a policy, record, judge. */
#include "base/log.h"
#include "base/mem.h"
#include "base/text.h"
#include "cmd/masks.h"
#include "cmd/model.h"
#include "cmd/store.h"
#include "cmd/target.h"
#include "cmd/verdicts.h"
#include "rollout/rollout.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define DEMO_ACTIONS "DOWN,DOWN,RIGHT,DOWN,RIGHT,RIGHT"

struct run_options {
	struct target_options target;
	const char *actions, *tool, *policy, *task, *out;
	struct opt_list masks;
	struct opt_u64 max_turns;
	bool force, append, sync, force_call;
	struct llm_options model;
	struct verdict_options verdict;
};

#define FIELD(f) OPT(struct run_options, f)

static const struct opt options[] = {
	TARGET_FIRST_OPTIONS(FIELD(target)),
	{'a', "actions", "A,B,C", OPT_STR, FIELD(actions),
         "call the tool once with each of these", NULL},
	{'t', "tool", "NAME", OPT_STR, FIELD(tool),
         "the tool of --actions (default: the only one)", NULL},
	{'p', "policy", "FILE|KIND:ARG", OPT_STR, FIELD(policy),
         "a policy file, random:SEED, or llm with --model and --base-url", NULL},
	{'n', "max-turns", "N", OPT_U64, FIELD(max_turns),
         "stop after N turns (default: the script's length, else 100)", NULL},
	{'o', "out", "FILE", OPT_STR, FIELD(out),
         "record there; - streams to standard output, the verdict then goes to standard "
         "error (default: a fresh file, the latest recording)",
         NULL},
	{'f', "force", NULL, OPT_FLAG, FIELD(force), "replace the file of --out", NULL},
	{0, "append", NULL, OPT_FLAG, FIELD(append),
         "go on behind what the file of --out holds", NULL},
	{0, "sync", NULL, OPT_FLAG, FIELD(sync), "fdatasync after each line", NULL},
	{0, "mask", "POINTER", OPT_LIST, FIELD(masks),
         "part of the lines that may differ between runs; recorded in the header", NULL},
	{0, "task", "ID", OPT_STR, FIELD(task),
         "id of the task (default: the server's name)", NULL},
	{0, "force-call", NULL, OPT_FLAG, FIELD(force_call),
         "send calls that do not fit the tool's schema", NULL},
	MODEL_OPTIONS(FIELD(model)),
	TARGET_OPTIONS(FIELD(target)),
	VERDICT_OPTIONS(FIELD(verdict)),
};

/* Everything one run holds, so that there is one way out. */
struct running {
	const struct context *context;
	const struct run_options *opts;
	struct env_target target;
	struct llm_conf *llm; /* NULL: no model is asked */
	struct buf path;
	bool stored; /* the path is in the store: `latest` follows */
	bool created;
	struct io *io;
	struct recorder *recorder;
	struct judge *judge;
	struct table *table;
	struct verdicts verdicts;
	struct error mute; /* why nothing more is printed; the recording goes on */
	char env_session[TARGET_SESSION_DIGITS + 1];
};

/* ---- where the lines go beside the recording ---- */

static int judge_sink(void *ctx, const struct line *l, struct error *err)
{
	struct running *r = ctx;

	if (l->type == LINE_HEADER && r->stored &&
	    store_set_latest(r->context, buf_cstr(&r->path), err)) {
		return -1;
	}
	return judge_line(r->judge, l, NULL, err);
}

/* A rollout is not given up because its table cannot be printed. */
static int table_sink(void *ctx, const struct line *l, struct error *err)
{
	struct running *r = ctx;

	(void)err;
	if (r->mute.kind == FAIL_NONE) {
		table_line(r->table, l, &r->verdicts.out.text);
		(void)!output_flush(&r->verdicts.out, &r->mute);
	}
	return 0;
}

/* ---- setting up ---- */

static int settle_out(struct running *r, struct error *err)
{
	const struct run_options *o = r->opts;

	if (o->out && !strcmp(o->out, "-") && o->verdict.json) {
		return error_set(err, FAIL_USAGE,
		                 "--out - and --json both want standard output");
	}
	if (o->force && o->append) {
		return error_set(err, FAIL_USAGE,
		                 "--force and --append exclude each other");
	}
	if (o->out) {
		buf_text(&r->path, o->out);
		return 0;
	}
	r->stored = true;
	return store_new_file(r->context, &r->path, err);
}

static int open_recorder(struct running *r, struct error *err)
{
	struct recorder_conf conf = {.path = buf_cstr(&r->path),
	                             .force = r->opts->force,
	                             .append = r->opts->append,
	                             .sync = r->opts->sync,
	                             .secrets = r->target.secrets};

	r->created = strcmp(conf.path, "-") != 0 && access(conf.path, F_OK) != 0;
	if (recorder_new(&conf, &r->recorder, err)) {
		r->created = false;
		return -1;
	}
	return 0;
}

static bool streams(const struct running *r)
{
	return r->opts->out && !strcmp(r->opts->out, "-");
}

static int open_verdicts(struct running *r, struct error *err)
{
	const struct verdict_options *v = &r->opts->verdict;
	struct judge_conf conf = {.only = v->only,
	                          .without = v->without,
	                          .told = verdict_told(v),
	                          .verdict = verdicts_take,
	                          .ctx = &r->verdicts};

	r->verdicts = (struct verdicts){.context = r->context,
	                                .out = streams(r) ? output_to_stderr()
	                                                  : output_to_stdout(),
	                                .json = v->json,
	                                .fail_on = v->fail_on};
	if (judge_new(&conf, &r->judge, err)) {
		return -1;
	}
	judge_file(r->judge, buf_cstr(&r->path));
	if (!v->json && !r->context->quiet && !streams(r)) {
		r->table = table_new(r->context->style);
	}
	return 0;
}

static int open_io(struct running *r, struct error *err)
{
	return env_target_new_session(r->env_session, err) ||
	       env_target_new_io(&r->target, &r->io, err);
}

/* ---- the run ---- */

static const char *actions_of(const struct running *r)
{
	const struct run_options *o = r->opts;
	bool demo = env_target_is_builtin(&r->target) && !o->actions && !o->policy &&
	            !o->tool;

	return demo ? DEMO_ACTIONS : o->actions;
}

static int drive(struct running *r, struct rollout_result *result, struct error *err)
{
	const struct run_options *o = r->opts;
	struct line_sink sinks[2] = {{judge_sink, r}};
	size_t sink_count = 1;

	if (r->table) {
		/* first the row, then what its verdict is */
		sinks[1] = sinks[0];
		sinks[0] = (struct line_sink){table_sink, r};
		sink_count = 2;
	}
	struct rollout_conf conf = {.task = o->task,
	                            .env = env_target_conf(&r->target),
	                            .policy = {.actions = actions_of(r),
	                                       .tool = o->tool,
	                                       .spec = o->policy,
	                                       .llm = r->llm,
	                                       .force_call = o->force_call},
	                            .max_turns = o->max_turns,
	                            .masks = &o->masks,
	                            .clock = r->context->clock,
	                            .io = r->io,
	                            .recorder = r->recorder,
	                            .sinks = sinks,
	                            .sink_count = sink_count};

	conf.env.env_session = r->env_session;
	conf.env_ops = env_find(&conf.env, conf.io, err);
	return conf.env_ops ? rollout_run(&conf, result, err) : -1;
}

static int exit_code(const struct running *r, const struct rollout_result *result)
{
	switch (result->status) {
	case END_INTERRUPTED:
		return 130;
	case END_FAILED:
		return 5;
	case END_UNREACHABLE:
		return 4;
	case END_REFUSED:
		return 1;
	case END_TERMINATED:
	case END_TRUNCATED:
	case END_FINISHED:
	case END_MAX_TURNS:
	case END_STOPPED:
		break;
	}
	return r->verdicts.at_or_above > 0;
}

static int conclude(struct running *r, const struct rollout_result *result,
                    struct error *err)
{
	judge_finish(r->judge);
	if (result->status == END_UNREACHABLE) {
		log_error("%s: %s", r->target.name, result->peer.text);
	}
	if (r->mute.kind != FAIL_NONE) {
		*err = r->mute;
		return -1;
	}
	verdicts_summary(&r->verdicts, r->judge);
	if (!r->opts->out && !r->opts->verdict.json && !r->context->quiet) {
		buf_printf(&r->verdicts.out.text, "recorded: %s\n", buf_cstr(&r->path));
	}
	if (output_flush(&r->verdicts.out, err)) {
		return -1;
	}
	return exit_code(r, result);
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
	if (check_masks(r->opts, err)) {
		return -1;
	}
	return env_target_prepare(&r->target, r->context, &r->opts->target, err) ||
	       model_read(r->context, r->opts->policy, &r->opts->model, r->target.secrets,
	                  &r->llm, err) ||
	       settle_out(r, err) || env_target_start(&r->target, err) ||
	       open_verdicts(r, err) || open_io(r, err) || open_recorder(r, err);
}

static void tear_down(struct running *r)
{
	table_free(r->table);
	judge_free(r->judge);
	output_release(&r->verdicts.out);
	io_free(r->io);
	env_target_release(&r->target);
	llm_conf_free(r->llm);
	buf_release(&r->path);
}

static bool is_empty(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode) && st.st_size == 0;
}

static int run_run(const struct context *c, const void *opts, int argc, char **argv,
                   struct error *err)
{
	struct running r = {.context = c, .opts = opts, .path = BUF(BUF_MAX_SMALL)};
	struct rollout_result result = {.status = END_FAILED};
	struct error closing = {0};

	(void)argc;
	(void)argv;
	int code = set_up(&r, err) || drive(&r, &result, err)
	                   ? -1
	                   : conclude(&r, &result, err);
	if (recorder_close(r.recorder, &closing) && code >= 0) {
		*err = closing;
		code = -1;
	}
	/* a policy that did not fit was refused before the first line: nothing to keep */
	if (code < 0 && r.created && is_empty(buf_cstr(&r.path))) {
		unlink(buf_cstr(&r.path));
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
		       "lake; without --out the recording goes to a fresh file that "
		       "check, show and strip take when no file is named.",
	.opts = options,
	.opt_count = ARRAY_LEN(options),
	.opts_size = sizeof(struct run_options),
	.network = true,
	.run = run_run,
};
