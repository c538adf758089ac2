/* Makes a list of rollouts from options and a task file: see plan.h. */
#include "cmd/plan.h"

#include "base/log.h"
#include "base/settings.h"
#include "env/task_api.h"
#include "policy/policy.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define ROLLOUTS_MAX 10000000
#define OF_ENV       "env:"
#define NAMELESS     "env" /* name of tasks that have none */

#define ROWS plan
#include "cmd/options/rows.h"
const struct option_group plan_group = {plan_opts, ARRAY_LEN(plan_opts), "task options"};

static int contradicts(const char *option, struct opt_u64 given, uint64_t planned,
                       struct error *err)
{
	if (!given.given || given.value == planned)
		return 0;
	return error_set(err, FAIL_USAGE,
	                 "--%s %" PRIu64
	                 " contradicts the trainer settings, which result in %" PRIu64 ": omit it",
	                 option, given.value, planned);
}

/* Determines how many rollouts run at a time and per task; the trainer's settings take
   precedence. */
static int choose_numbers(struct plan *p, const struct plan_options *o, struct error *err)
{
	struct trainer_plan t;
	AUTO_BUF description = BUF(BUF_MAX_SMALL);

	p->group_size = opt_number(o->group_size, 1);
	p->jobs = opt_number(o->jobs, 1);
	p->grouped = o->group_size.given;
	p->groups = 1;
	if (!trainer_given(&o->trainer))
		return 0;
	int failed = trainer_read(&o->trainer, &t, &description, err);
	if (!failed)
		log_warn("%s", buf_cstr(&description));
	if (failed || contradicts("jobs", o->jobs, t.sessions, err) ||
	    (t.group_size && contradicts("group-size", o->group_size, t.group_size, err))) {
		return -1;
	}
	p->jobs = (size_t)t.sessions;
	p->group_size = t.group_size ? (size_t)t.group_size : p->group_size;
	p->groups = (p->jobs + p->group_size - 1) / p->group_size;
	p->grouped = true;
	if (t.sessions > JOBS_MAX) {
		return error_set(err, FAIL_USAGE,
		                 "the trainer settings result in %" PRIu64
		                 " rollouts at a time, more than %d",
		                 t.sessions, JOBS_MAX);
	}
	return 0;
}

static int fetch_tasks(struct plan *p, const char *spec, const struct env_target *target,
                       struct error *err)
{
	struct env_conf conf = env_target_conf(target);
	AUTO_BUF text = BUF(TASK_FILE_MAX);
	struct io *io = NULL;

	conf.url = target->name;
	int failed = env_target_new_io(target, &io, err) ||
	             task_api_list(&conf, io, str_from(spec + strlen(OF_ENV)), &text, err) ||
	             tasks_parse(buf_view(&text), spec, &p->tasks, err);

	io_free(io);
	return failed ? -1 : 0;
}

static int choose_tasks(struct plan *p, const struct plan_options *o,
                        const struct env_target *target, const char *task, struct error *err)
{
	size_t wanted = p->groups;

	if (!o->tasks && !p->made.n)
		return 0;
	if (task) {
		return error_set(err, FAIL_USAGE,
		                 "--task needs --rollout: the policy has several rollouts");
	}
	if (!o->tasks) {
		p->file = "the rollouts of \1policy\2";
		p->groups = 0;
		if (tasks_parse(p->made, p->file, &p->tasks, err))
			return -1;
		p->groups = p->tasks.count;
		return 0;
	}
	p->of_env = str_starts(str_from(o->tasks), STR(OF_ENV));
	if (p->of_env ? fetch_tasks(p, o->tasks, target, err)
	              : tasks_read(o->tasks, &p->tasks, err))
		return -1;
	p->file = strcmp(o->tasks, "-") != 0 ? o->tasks : "standard input";
	p->groups = p->tasks.count;
	if (p->groups < wanted) {
		log_warn("%s has %zu task%s, but the trainer uses %zu prompts at once: only %zu "
		         "sessions will be open",
		         p->file, p->groups, plural(p->groups), wanted, p->groups * p->group_size);
	}
	return 0;
}

/* The server's name is not used: a refused rollout would get a different name. */
static int choose_name(struct plan *p, const char *task, bool named, struct error *err)
{
	p->name = task;
	if (!task && (named || p->groups * p->group_size > 1))
		p->name = NAMELESS;
	if (p->groups > 1 && !p->file && strlen(p->name) > ROLLOUT_TASK_MAX - 8) {
		return error_set(err, FAIL_USAGE,
		                 "--task: at most %d bytes when tasks are numbered",
		                 ROLLOUT_TASK_MAX - 8);
	}
	return 0;
}

/* Keeps the tasks of this shard; the key is the id that recordings have. */
static void keep_shard(struct plan *p)
{
	struct planned one;
	size_t kept = 0;

	if (!p->shard.count)
		return;
	size_t *numbers = mem_array(p->groups, sizeof(*numbers));
	for (size_t i = 0; i < p->groups; i++) {
		plan_nth(p, i * p->group_size, &one);
		numbers[kept] = i;
		kept += shard_has(&p->shard, str_from(one.name));
	}
	p->kept = numbers;
	p->groups = kept;
	p->fates = mem_new(kept * p->group_size + 1);
	log_warn("shard %" PRIu64 " of %" PRIu64 ": %zu of %zu task%s", p->shard.index,
	         p->shard.count, kept, p->all_groups, plural(p->all_groups));
}

int plan_make(struct plan *p, const struct context *c, const struct plan_options *o,
              const struct env_target *target, const char *task, bool named, struct error *err)
{
	*p = (struct plan){.groups = 1, .made = p->made};
	if (shard_read(o->shard, c, &p->shard, err) || choose_numbers(p, o, err) ||
	    choose_tasks(p, o, target, task, err)) {
		return -1;
	}
	if (p->groups > ROLLOUTS_MAX / p->group_size) {
		return error_set(err, FAIL_USAGE,
		                 "%zu tasks x %zu rollouts exceed the maximum of %d rollouts",
		                 p->groups, p->group_size, ROLLOUTS_MAX);
	}
	p->all_groups = p->groups;
	if (choose_name(p, task, named || p->shard.count, err))
		return -1;
	keep_shard(p);
	p->count = p->groups * p->group_size;
	p->jobs = p->jobs < p->count ? p->jobs : p->count;
	return 0;
}

void plan_release(struct plan *p)
{
	free(p->kept);
	free(p->fates);
	tasks_release(&p->tasks);
}

static void name_task(const struct plan *p, size_t number, struct planned *out)
{
	char name[2 * ROLLOUT_TASK_MAX];

	if (p->file) {
		out->task = &p->tasks.items[number];
		snprintf(name, sizeof(name), "%s", out->task->id);
	} else if (p->all_groups > 1) {
		snprintf(name, sizeof(name), "%s-%zu", p->name, number);
	} else {
		snprintf(name, sizeof(name), "%s", p->name ? p->name : "");
	}
	rollout_task_name(str_from(name), out->name);
}

void plan_nth(const struct plan *p, size_t index, struct planned *out)
{
	size_t group = index / p->group_size;

	*out = (struct planned){.sample = index % p->group_size};
	name_task(p, p->kept ? p->kept[group] : group, out);
	if (*out->name)
		snprintf(out->id, sizeof(out->id), "%s.%zu", out->name, out->sample);
}

static enum fate fate_of(int failed, const struct rollout_result *r)
{
	if (failed)
		return FATE_FAILED;
	switch (r->status) {
	case END_REFUSED:
		return FATE_REFUSED;
	case END_FAILED:
		return FATE_FAILED;
	case END_INTERRUPTED:
		return FATE_INTERRUPTED;
	case END_UNREACHABLE:
		return !r->opened ? FATE_UNREACHABLE : r->timed_out ? FATE_TIMED_OUT : FATE_LOST;
	default:
		return FATE_DONE;
	}
}

void plan_ended(const struct plan *p, size_t index, int failed, const struct rollout_result *r)
{
	if (p->fates)
		p->fates[index] = (unsigned char)fate_of(failed, r);
}

void plan_apply_task(const struct task *t, struct rollout_conf *conf)
{
	struct policy_conf *p = &conf->policy;

	/* a task's policy replaces the built-in demonstration */
	p->actions = t->actions ? t->actions : p->actions;
	p->call_text_count = t->actions || t->policy ? 0 : p->call_text_count;
	p->tool = t->tool ? t->tool : p->tool;
	p->calls = t->actions || t->policy ? STR_NONE : p->calls;
	if (t->policy && (!p->spec || strcmp(t->policy, p->spec) != 0)) {
		p->spec = t->policy;
		p->llm = NULL; /* the options' model does not apply to this policy */
	}
	p->vars = t->vars;
	if (t->state)
		conf->env.state_spec = str_from(t->state);
	conf->env.reset_args = t->reset.p ? t->reset : conf->env.reset_args;
	if (t->has_seed) {
		conf->env.has_seed = true;
		conf->env.seed = t->seed;
	}
	if (t->has_max_turns) {
		conf->has_max_turns = true;
		conf->max_turns = t->max_turns;
	}
}

void plan_blame_task(const struct plan *p, const struct task *t, struct error *err)
{
	bool own = t->actions || t->tool || t->policy || t->state;

	if (err->kind == FAIL_USAGE || err->kind == FAIL_INPUT) {
		if (own) {
			err->kind = FAIL_INPUT;
			settings_as_keys(err->text);
		}
		error_wrap(err, "%s:%zu", p->file, t->line);
	}
}

int plan_check_policy(const struct plan *p, const struct task *t, struct policy_conf policy,
                      struct error *err)
{
	struct rollout_conf conf = {.policy = policy};

	if (!t)
		return policy_check(&policy, err);
	plan_apply_task(t, &conf);
	if (policy_check(&conf.policy, err)) {
		plan_blame_task(p, t, err);
		return -1;
	}
	return 0;
}
