/* Batch sizes of trainers: see trainer.h. */
#include "rollout/trainer.h"

#include <inttypes.h>

#define PER_DEVICE_TRAIN_BATCH_SIZE 8
#define PER_DEVICE_EVAL_BATCH_SIZE  8
#define NUM_GENERATIONS             8
#define MAX_STALENESS               4
#define MAX_CONCURRENT              128
#define MAX_INFLIGHT                1024 /* of prime-rl */

#define AT(member)     offsetof(struct trainer_settings, member)
#define NUMBER(member) {#member, TRAINER_ANY, AT(member), 0, false}
const struct trainer_row trainer_rows[] = {
	NUMBER(num_generations),
	NUMBER(per_device_train_batch_size),
	NUMBER(gradient_accumulation_steps),
	NUMBER(num_processes),
	NUMBER(steps_per_generation),
	NUMBER(generation_batch_size),
	NUMBER(per_device_eval_batch_size),
	NUMBER(max_inflight_tasks),
	NUMBER(max_staleness),
	NUMBER(max_concurrent),
	NUMBER(num_samples_in_parallel),
	{"eval_strategy", TRAINER_ANY, AT(eval_strategy), 0, true},
	{"grpo.num_prompts_per_step", TRAINER_NEMO_RL, AT(prompts), 32, false},
	{"grpo.num_generations_per_prompt", TRAINER_NEMO_RL, AT(num_generations), 16, false},
	{"grpo.batch_multiplier", TRAINER_NEMO_RL, TRAINER_NOWHERE, 0, false},
	{"grpo.val_batch_size", TRAINER_NEMO_RL, AT(eval_prompts), 256, false},
	{"grpo.val_num_generations_per_prompt", TRAINER_NEMO_RL, AT(eval_generations), 1, false},
	{"grpo.val_period", TRAINER_NEMO_RL, AT(eval_strategy), 1, true},
	{"grpo.val_at_start", TRAINER_NEMO_RL, AT(eval_at_start), TRAINER_NEVER, true},
	{"grpo.async_grpo.enabled", TRAINER_NEMO_RL, AT(in_async), TRAINER_NEVER, true},
	{"grpo.async_grpo.max_trajectory_age_steps", TRAINER_NEMO_RL, AT(max_staleness), 1, false},
	{"async_rl.max_inflight_prompts", TRAINER_NEMO_RL, TRAINER_NOWHERE, 0, false},
	{"data.train_batch_size", TRAINER_VERL, AT(prompts), 1024, false},
	{"data.gen_batch_size", TRAINER_VERL, AT(gen_prompts), 0, false},
	{"data.val_batch_size", TRAINER_VERL, AT(eval_prompts), TRAINER_NEVER, false},
	{"actor_rollout_ref.rollout.n", TRAINER_VERL, AT(num_generations), 1, false},
	{"actor_rollout_ref.rollout.val_kwargs.n", TRAINER_VERL, AT(eval_generations), 1, false},
	{"trainer.test_freq", TRAINER_VERL, AT(eval_strategy), TRAINER_NEVER, true},
	{"trainer.val_before_train", TRAINER_VERL, AT(eval_at_start), 1, true},
	{"orchestrator.concurrency.max_inflight", TRAINER_PRIME_RL, AT(max_concurrent), 1024,
         false},
	{"orchestrator.group_size", TRAINER_PRIME_RL, AT(num_generations), 0, false},
};
const size_t trainer_rows_count = ARRAY_LEN(trainer_rows);

uint64_t *trainer_setting_at(struct trainer_settings *s, size_t i)
{
	bool nowhere = trainer_rows[i].offset == TRAINER_NOWHERE;

	return nowhere ? NULL : (uint64_t *)(void *)((char *)s + trainer_rows[i].offset);
}

uint64_t trainer_switch(struct str value)
{
	static const char *const never[] = {"",      "no",  "No",   "NO",   "false", "False",
	                                    "FALSE", "off", "null", "None", "~",     "0"};

	for (size_t i = 0; i < ARRAY_LEN(never); i++)
		if (str_is(value, never[i]))
			return TRAINER_NEVER;
	return str_starts(value, STR("-")) ? TRAINER_NEVER : 1;
}

static uint64_t given_or(uint64_t value, uint64_t fallback)
{
	return value ? value : fallback;
}

static uint64_t per_device(const struct trainer_settings *s)
{
	return given_or(s->per_device_train_batch_size, PER_DEVICE_TRAIN_BATCH_SIZE);
}

static uint64_t processes(const struct trainer_settings *s)
{
	return given_or(s->num_processes, 1);
}

/* UINT64_MAX if it is too large. */
static uint64_t times(uint64_t a, uint64_t b)
{
	return __builtin_mul_overflow(a, b, &a) ? UINT64_MAX : a;
}

static int check_sessions(const char *setting, uint64_t n, struct error *err)
{
	return n <= TRAINER_SESSIONS_MAX ? 0
	                                 : error_set(err, FAIL_USAGE, "%s is more than %d", setting,
	                                             TRAINER_SESSIONS_MAX);
}

static int find_batch_size(const struct trainer_settings *s, uint64_t *batch, struct error *err)
{
	uint64_t global = times(per_device(s), processes(s));
	uint64_t steps =
		given_or(s->steps_per_generation, given_or(s->gradient_accumulation_steps, 1));

	if (s->generation_batch_size && s->steps_per_generation) {
		return error_set(err, FAIL_USAGE,
		                 "generation_batch_size and steps_per_generation cannot both be "
		                 "given");
	}
	*batch = given_or(s->generation_batch_size, times(global, steps));
	if (check_sessions("generation_batch_size", global, err))
		return -1;
	if (*batch % global) {
		return error_set(err, FAIL_USAGE,
		                 "generation_batch_size (%" PRIu64
		                 ") must be divisible by the global batch size "
		                 "(per_device_train_batch_size %" PRIu64 " x num_processes %" PRIu64
		                 " = %" PRIu64 ")",
		                 *batch, per_device(s), processes(s), global);
	}
	return check_sessions("generation_batch_size", *batch, err);
}

static uint64_t eval_batch(const struct trainer_settings *s)
{
	return given_or(s->eval_strategy, TRAINER_NEVER) != TRAINER_NEVER
	               ? times(given_or(s->per_device_eval_batch_size, PER_DEVICE_EVAL_BATCH_SIZE),
	                       processes(s))
	               : 0;
}

static int refuse_groups(uint64_t batch, uint64_t group_size, struct error *err)
{
	return error_set(err, FAIL_USAGE,
	                 "generation_batch_size (%" PRIu64
	                 ") must be divisible by num_generations (%" PRIu64 ")",
	                 batch, group_size);
}

/* GRPOTrainer. */
static int plan_batch(const struct trainer_settings *s, struct trainer_plan *out, struct error *err)
{
	struct trainer_plan p = {.group_size = given_or(s->num_generations, NUM_GENERATIONS),
	                         .serial = true};
	uint64_t eval = eval_batch(s);

	if (find_batch_size(s, &p.sessions, err))
		return -1;
	if (p.group_size < 2) {
		return error_set(err, FAIL_USAGE,
		                 "num_generations (%" PRIu64
		                 "): GRPO compares the generations of a prompt with each other "
		                 "and needs at least 2",
		                 p.group_size);
	}
	if (p.sessions % p.group_size)
		return refuse_groups(p.sessions, p.group_size, err);
	p.groups = p.sessions / p.group_size;
	p.sessions = eval > p.sessions ? eval : p.sessions;
	*out = p;
	return check_sessions("per_device_eval_batch_size x num_processes", eval, err);
}

static int plan_concurrent(const char *name, uint64_t n, uint64_t group_size,
                           struct trainer_plan *out, struct error *err)
{
	*out = (struct trainer_plan){.sessions = n, .group_size = group_size};
	return check_sessions(name, n, err);
}

/* AsyncGRPO. */
static uint64_t sessions_in_flight(const struct trainer_settings *s)
{
	uint64_t each = times(given_or(s->max_staleness, MAX_STALENESS), per_device(s));
	uint64_t steps = given_or(s->gradient_accumulation_steps, 1);

	return given_or(s->max_inflight_tasks, times(times(each, steps), processes(s)));
}

static bool never(uint64_t setting)
{
	return setting == TRAINER_NEVER;
}

/* NeMo-RL and verl. */
static int plan_prompts(const struct trainer_settings *given, struct trainer_plan *out,
                        struct error *err)
{
	struct trainer_settings s = *given;

	for (size_t i = 0; i < trainer_rows_count; i++) {
		uint64_t *at = trainer_setting_at(&s, i);

		if (at && trainer_rows[i].kind == s.kind)
			*at = given_or(*at, trainer_rows[i].fallback);
	}
	struct trainer_plan p = {.groups = given_or(s.gen_prompts, s.prompts),
	                         .group_size = s.num_generations};
	bool validates = !never(s.eval_strategy) || !never(s.eval_at_start);

	if (s.in_async && !never(s.in_async))
		p.groups = times(p.groups, s.max_staleness);
	if (s.generation_batch_size)
		p.groups = s.generation_batch_size / p.group_size;
	p.sessions = times(p.groups, p.group_size);
	if (s.generation_batch_size && p.sessions != s.generation_batch_size)
		return refuse_groups(s.generation_batch_size, p.group_size, err);
	p.whole_set = validates && never(s.eval_prompts);
	if (validates && !p.whole_set)
		p.validation = times(s.eval_prompts, s.eval_generations);
	p.sessions = p.validation > p.sessions ? p.validation : p.sessions;
	*out = p;
	return check_sessions("prompts x generations", p.sessions, err);
}

int trainer_plan(const struct trainer_settings *s, struct trainer_plan *out, struct error *err)
{
	switch (s->kind) {
	case TRAINER_TRL_ASYNC:
		return plan_concurrent("max_inflight_tasks", sessions_in_flight(s),
		                       given_or(s->num_generations, NUM_GENERATIONS), out, err);
	case TRAINER_VERIFIERS:
		return plan_concurrent("max_concurrent",
		                       given_or(s->max_concurrent, MAX_CONCURRENT),
		                       s->num_generations, out, err);
	case TRAINER_PRIME_RL:
		return plan_concurrent("max_inflight", given_or(s->max_concurrent, MAX_INFLIGHT),
		                       s->num_generations, out, err);
	case TRAINER_NEMO_RL:
	case TRAINER_VERL:
		return plan_prompts(s, out, err);
	case TRAINER_NEMO_GYM:
		if (!s->num_samples_in_parallel) {
			return error_set(err, FAIL_USAGE,
			                 "NeMo Gym runs all its samples at once unless "
			                 "\1num_samples_in_parallel\2 is given");
		}
		return plan_concurrent("num_samples_in_parallel", s->num_samples_in_parallel,
		                       s->num_generations, out, err);
	case TRAINER_TRL:
	case TRAINER_ANY:
		break;
	}
	return plan_batch(s, out, err);
}

static void describe_inflight(const struct trainer_settings *s, const struct trainer_plan *p,
                              struct buf *out)
{
	buf_printf(out, "max_inflight_tasks %" PRIu64, p->sessions);
	if (!s->max_inflight_tasks) {
		buf_printf(out,
		           " = staleness %" PRIu64 " x %" PRIu64 " per device x %" PRIu64
		           " steps x %" PRIu64 " process%s",
		           given_or(s->max_staleness, MAX_STALENESS), per_device(s),
		           given_or(s->gradient_accumulation_steps, 1), processes(s),
		           processes(s) == 1 ? "" : "es");
	}
	buf_printf(out, ": %" PRIu64 " sessions at once", p->sessions);
}

static void describe_prompts(const struct trainer_plan *p, struct buf *out)
{
	buf_printf(out,
	           "%" PRIu64 " prompt%s x %" PRIu64 " generation%s: %" PRIu64 " sessions at once",
	           p->groups, p->groups == 1 ? "" : "s", p->group_size,
	           p->group_size == 1 ? "" : "s", p->sessions);
	if (p->validation > p->groups * p->group_size)
		buf_printf(out, " (of these, validation needs %" PRIu64 ")", p->validation);
	if (p->whole_set)
		buf_text(out,
		         "; a validation without val_batch_size opens one for each of its prompts");
}

void trainer_describe(const struct trainer_settings *s, const struct trainer_plan *p,
                      struct buf *out)
{
	static const char *const limits[] = {[TRAINER_VERIFIERS] = "max_concurrent",
	                                     [TRAINER_NEMO_GYM] = "num_samples_in_parallel",
	                                     [TRAINER_PRIME_RL] = "at most max_inflight"};
	uint64_t batch = p->groups * p->group_size, eval = eval_batch(s);
	uint64_t global = per_device(s) * processes(s), steps = batch / global;

	if (s->kind == TRAINER_TRL_ASYNC) {
		describe_inflight(s, p, out);
		return;
	}
	if (s->kind == TRAINER_NEMO_RL || s->kind == TRAINER_VERL) {
		describe_prompts(p, out);
		return;
	}
	if (s->kind != TRAINER_TRL) {
		buf_printf(out, "%s %" PRIu64 ": %" PRIu64 " sessions at once", limits[s->kind],
		           p->sessions, p->sessions);
		return;
	}

	buf_printf(out,
	           "generation_batch_size %" PRIu64 " = %" PRIu64 " per device x %" PRIu64
	           " process%s x %" PRIu64 " step%s: %" PRIu64 " sessions at once, %" PRIu64
	           " prompt%s with %" PRIu64 " generations each",
	           batch, per_device(s), processes(s), processes(s) == 1 ? "" : "es", steps,
	           steps == 1 ? "" : "s", p->sessions, p->groups, p->groups == 1 ? "" : "s",
	           p->group_size);
	if (eval > batch) {
		buf_printf(out,
		           " (of these, evaluation needs %" PRIu64 ": %" PRIu64
		           " per device x %" PRIu64 " process%s)",
		           eval, eval / processes(s), processes(s), processes(s) == 1 ? "" : "es");
	}
}

void trainer_describe_time(const struct trainer_plan *p, uint64_t turns, uint64_t step_us,
                           struct buf *out)
{
	uint64_t rollouts = p->groups ? p->groups * p->group_size : p->sessions;
	double calls = (double)turns * (double)(p->serial ? rollouts : 1);
	double ms = (double)step_us / 1000, all = calls * ms;

	buf_printf(out, "%" PRIu64 " rollouts x %" PRIu64 " turn%s x %.3g ms", rollouts, turns,
	           turns == 1 ? "" : "s", ms);
	buf_printf(out, "%s%.3g %s%s",
	           p->serial ? " = " : ", overlapping: ", all >= 1000 ? all / 1000 : all,
	           all >= 1000 ? "s" : "ms",
	           p->serial ? " a batch (the trainer never overlaps two calls)" : " or more");
}
