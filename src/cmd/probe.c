/* rolldbg probe: what an environment server and a model are good for, before somebody
   trains with them. */
#include "probe/probe.h"

#include "base/log.h"
#include "cmd/model.h"
#include "cmd/output.h"
#include "cmd/properties.h"
#include "cmd/target.h"

#define DEFAULT_SESSIONS  4
#define SESSIONS_MAX      4096
#define DEFAULT_SETTLE_MS 5000

struct probe_options {
	struct target_options target;
	const char *actions, *tool, *policy, *tasks;
	struct opt_u64 sessions, need, settle;
	struct trainer_options trainer;
	struct llm_options model;
	bool call_read_only, json;
};

#define FIELD(f) OPT(struct probe_options, f)

static const struct opt options[] = {
	TARGET_FIRST_OPTIONS(FIELD(target)),
	{'j', "sessions", "N", OPT_U64, FIELD(sessions),
         "open at most N sessions at a time (default: as many as needed, else 4)", NULL},
	{'N', "need", "N", OPT_U64, FIELD(need),
         "capacity is red when fewer than N sessions get an environment (default: what "
         "the trainer settings need, else --sessions)",
         NULL},
	{'a', "actions", "A,B,C", OPT_STR, FIELD(actions),
         "call the tool with these values (default: calls drawn from the schemas)", NULL},
	{'t', "tool", "NAME", OPT_STR, FIELD(tool),
         "the tool that --actions calls (default: the only one)", NULL},
	{'p', "policy", "FILE|KIND:ARG", OPT_STR, FIELD(policy),
         "act with a policy file or random:SEED; a policy that asks a model (llm, with "
         "--model and --base-url) does not act: the model is examined",
         NULL},
	{0, "tasks", "FILE", OPT_STR, FIELD(tasks),
         "with a model: look for tools named by these tasks that the server lacks", NULL},
	{0, "settle", "DURATION", OPT_MS, FIELD(settle),
         "how long a closed session may take to give its room back (default 5s)", NULL},
	{0, "call-read-only", NULL, OPT_FLAG, FIELD(call_read_only),
         "call every tool marked read-only, with {}", NULL},
	{0, "json", NULL, OPT_FLAG, FIELD(json),
         "print properties and a summary as JSON lines", NULL},
	MODEL_OPTIONS(FIELD(model)),
	TRAINER_OPTIONS(FIELD(trainer)),
	TARGET_OPTIONS(FIELD(target)),
};

struct probing {
	const struct context *context;
	const struct probe_options *opts;
	struct env_target target;
	struct output out;
	struct io *io;
	size_t sessions, need;
	struct trainer_plan trainer;
	struct llm_conf *model; /* NULL: no model is asked */
	struct tasks tasks;
	struct error mute; /* why nothing more is printed; sessions are closed all the
	                      same */
};

/* ---- what is said ---- */

static void flush(struct probing *p)
{
	if (p->mute.kind == FAIL_NONE) {
		(void)!output_flush(&p->out, &p->mute);
	} else {
		buf_clear(&p->out.text);
	}
}

static void say_opened(void *ctx, const struct env_facts *f)
{
	struct probing *p = ctx;

	if (!p->opts->json && !p->context->quiet) {
		/* printed with the first property: calls that do not fit have no table */
		properties_title(p->target.name, f, &p->out.text);
	}
}

/* A server may say what it was told in confidence. */
static void hide(const struct probing *p, struct buf *text)
{
	struct buf plain = *text;

	*text = BUF(BUF_MAX_SMALL);
	secrets_redact(p->target.secrets, buf_view(&plain), text);
	buf_release(&plain);
}

static void say_property(void *ctx, const struct property *found)
{
	struct probing *p = ctx;
	struct property safe = *found;

	safe.value = safe.evidence = safe.cure = BUF(BUF_MAX_SMALL);
	buf_str(&safe.value, buf_view(&found->value));
	buf_str(&safe.evidence, buf_view(&found->evidence));
	buf_str(&safe.cure, buf_view(&found->cure));
	hide(p, &safe.value);
	hide(p, &safe.evidence);
	hide(p, &safe.cure);
	if (p->opts->json) {
		properties_json(&safe, &p->out.text);
	} else if (!p->context->quiet || safe.status == PROPERTY_RED) {
		properties_line(&safe, p->context->style, &p->out.text);
	}
	flush(p);
	buf_release(&safe.value);
	buf_release(&safe.evidence);
	buf_release(&safe.cure);
}

/* ---- setting up ---- */

static int settle_number(const char *name, struct opt_u64 given, size_t otherwise,
                         size_t *out, struct error *err)
{
	*out = given.given ? (size_t)given.value : otherwise;
	if (given.given && (given.value < 1 || given.value > SESSIONS_MAX)) {
		return error_set(err, FAIL_USAGE,
		                 "--%s: from 1 to %d sessions can be opened", name,
		                 SESSIONS_MAX);
	}
	return 0;
}

/* --need, or what the trainer's settings come to. */
static int settle_need(const struct probe_options *o, struct opt_u64 *need,
                       struct trainer_plan *plan, struct error *err)
{
	struct buf said = BUF(BUF_MAX_SMALL);

	*need = o->need;
	if (!trainer_given(&o->trainer)) {
		return 0;
	}
	if (o->need.given) {
		return error_set(err, FAIL_USAGE,
		                 "--need and the trainer's settings exclude each other: "
		                 "give one of them");
	}
	if (trainer_plan(&o->trainer, plan, err)) {
		return -1;
	}
	trainer_say(&o->trainer, plan, &said);
	log_info("%s", buf_cstr(&said));
	buf_release(&said);
	*need = (struct opt_u64){.given = true, .value = plan->sessions};
	return 0;
}

static int settle_numbers(struct probing *p, struct error *err)
{
	struct opt_u64 need;

	if (settle_need(p->opts, &need, &p->trainer, err)) {
		return -1;
	}
	size_t otherwise = need.given ? (size_t)need.value : DEFAULT_SESSIONS;
	if (settle_number("need", need, otherwise, &p->need, err) ||
	    settle_number("sessions", p->opts->sessions, otherwise, &p->sessions, err)) {
		return -1;
	}
	p->need = need.given ? p->need : p->sessions;
	if (p->need > p->sessions) {
		return error_set(err, FAIL_USAGE,
		                 "%zu sessions are needed, and --sessions %zu opens "
		                 "fewer: raise it, or leave it out",
		                 p->need, p->sessions);
	}
	return 0;
}

static int read_model(struct probing *p, struct error *err)
{
	const struct probe_options *o = p->opts;

	if (model_read(p->context, o->policy, &o->model, p->target.secrets, &p->model,
	               err)) {
		return -1;
	}
	if (o->tasks && !p->model) {
		return error_set(err, FAIL_USAGE,
		                 "--tasks is for a policy that asks a model: give "
		                 "--policy llm or a policy file of kind llm");
	}
	return o->tasks ? tasks_read(o->tasks, &p->tasks, err) : 0;
}

static int set_up(struct probing *p, struct error *err)
{
	return settle_numbers(p, err) ||
	                       env_target_prepare(&p->target, p->context,
	                                          &p->opts->target, err) ||
	                       read_model(p, err) || env_target_start(&p->target, err) ||
	                       env_target_new_io(&p->target, &p->io, err)
	               ? -1
	               : 0;
}

static int conclude(struct probing *p, const struct probe_summary *s, struct error *err)
{
	bool lost = s->lost.kind != FAIL_NONE;

	if (p->opts->json) {
		properties_json_summary(s, p->sessions, p->need, p->model != NULL,
		                        &p->out.text);
	} else if (!p->context->quiet) {
		properties_conclusion(s, p->context->style, &p->out.text);
	}
	flush(p);
	if (p->mute.kind != FAIL_NONE) {
		*err = p->mute;
		return -1;
	}
	if (lost) {
		log_error("%s: %s", p->target.name, s->lost.text);
	}
	return lost || s->model_lost ? 4 : s->count[PROPERTY_RED] > 0;
}

static int examine(struct probing *p, struct error *err)
{
	const struct probe_options *o = p->opts;
	struct probe_summary summary;
	struct probe_conf conf = {
		.env = env_target_conf(&p->target),
		.policy = {.actions = o->actions,
	                   .tool = o->tool,
	                   .spec = p->model ? NULL : o->policy},
		.sessions = p->sessions,
		.need = p->need,
		.settle_ms = o->settle.given ? o->settle.value : DEFAULT_SETTLE_MS,
		.call_read_only = o->call_read_only,
		.model = p->model,
		.tasks = o->tasks ? &p->tasks : NULL,
		.trainer = trainer_given(&o->trainer) ? &p->trainer : NULL,
		.io = p->io,
		.opened = say_opened,
		.judged = say_property,
		.ctx = p};

	conf.env_ops = env_find(&conf.env, conf.io, err);
	if (!conf.env_ops || probe_run(&conf, &summary, err)) {
		return -1;
	}
	return conclude(p, &summary, err);
}

static int probe_main(const struct context *c, const void *opts, int argc, char **argv,
                      struct error *err)
{
	struct probing p = {.context = c, .opts = opts, .out = output_to_stdout()};

	(void)argc;
	(void)argv;
	int code = set_up(&p, err) ? -1 : examine(&p, err);
	if (code < 0) {
		env_target_hide(&p.target, err);
	}
	output_release(&p.out);
	io_free(p.io);
	tasks_release(&p.tasks);
	llm_conf_free(p.model);
	env_target_release(&p.target);
	return code;
}

const struct command command_probe = {
	.name = "probe",
	.summary = "examine an environment server: will N rollouts get N environments",
	.operands = "",
	.description =
		"Opens sessions side by side and prints a line for each property, with "
		"the cure where it is red: how many sessions get an environment, whether "
		"those are isolated, keep their state, honour a seed and give their room "
		"back. Exit code 1 when a property is red. Never more than --sessions "
		"are open, and none is left open. It acts on the environment: without "
		"--actions or --policy it draws up to 24 calls from the tools' schemas, "
		"where a state shows what they do. A policy that asks a model has the "
		"model and its server examined too, with eight small requests at most.",
	.opts = options,
	.opt_count = ARRAY_LEN(options),
	.opts_size = sizeof(struct probe_options),
	.network = true,
	.run = probe_main,
};
