/* How many environment sessions a trainer opens at once, and how long a turn of theirs takes.

   TRL's GRPOTrainer opens one environment for each rollout of a generation batch, which holds
   (GRPOConfig.__post_init__, TRL 1.16)

     per_device_train_batch_size x num_processes x steps_per_generation

   rollouts, with gradient_accumulation_steps in place of steps_per_generation if that is not given;
   and if it evaluates, one for each of per_device_eval_batch_size x num_processes, if those are more.
   TRL rejects generation_batch_size together with steps_per_generation, one that is not a multiple
   of per_device_train_batch_size x num_processes, a batch that is not a multiple of
   num_generations, and fewer than 2 generations. Its tools never overlap two calls.

   TRL's AsyncGRPO opens max_inflight_tasks, by default max(max_staleness, 1) x
   per_device_train_batch_size x gradient_accumulation_steps x num_processes, and calls them in threads.

   verifiers runs max_concurrent rollouts at a time (128), NeMo Gym num_samples_in_parallel, which
   has no default, prime-rl at most max_inflight (1024).

   verl and NeMo-RL open one for each generation of each prompt of a batch, NeMo-RL with async_grpo
   those of max_trajectory_age_steps batches; and in a validation, one for each generation of each
   prompt of its batch, which is the whole validation set where its size is null. */
#pragma once

#include "base/buf.h"
#include "base/error.h"
#include "rollout/trainer.h"

enum trainer_kind {
	TRAINER_TRL,
	TRAINER_TRL_ASYNC,
	TRAINER_VERIFIERS,
	TRAINER_NEMO_GYM,
	TRAINER_NEMO_RL,
	TRAINER_PRIME_RL,
	TRAINER_VERL,
	TRAINER_ANY,
};

#define TRAINER_NEVER UINT64_MAX

/* The trainer's settings, by their own names. 0: not given, use the trainer's default. A period or a
   switch is TRAINER_NEVER, or anything else. */
struct trainer_settings {
	uint64_t num_generations;             /* 8 */
	uint64_t per_device_train_batch_size; /* 8 */
	uint64_t gradient_accumulation_steps; /* 1 */
	uint64_t num_processes;               /* 1 */
	uint64_t steps_per_generation;        /* gradient_accumulation_steps */
	/* per_device_train_batch_size x num_processes x steps_per_generation */
	uint64_t generation_batch_size;
	uint64_t per_device_eval_batch_size; /* 8 */
	uint64_t max_inflight_tasks, max_staleness, max_concurrent, num_samples_in_parallel;
	uint64_t eval_strategy;        /* never */
	uint64_t prompts, gen_prompts; /* of a batch; from here on, see trainer_rows */
	uint64_t eval_prompts, eval_generations, eval_at_start, in_async;
	enum trainer_kind kind;
	bool kind_given; /* otherwise a setting that only one of them has tells the kind */
};

#define TRAINER_SESSIONS_MAX 1000000

struct trainer_plan {
	uint64_t sessions;   /* open at the same time */
	uint64_t groups;     /* prompts of a generation batch; 0: unknown */
	uint64_t group_size; /* generations per prompt; 0: unknown */
	bool serial;         /* never two calls at a time */
	uint64_t validation; /* of NeMo-RL and verl: sessions; included above */
	bool whole_set;      /* as many as its set has prompts */
};

/* A setting, by its path in the trainer's configuration. */
struct trainer_row {
	const char *path;
	enum trainer_kind kind; /* only this one has it */
	size_t offset;          /* TRAINER_NOWHERE: what it does to the number is not known */
	uint64_t fallback;      /* 0: none, or known to the plan of its trainer */
	bool is_switch;
};
#define TRAINER_NOWHERE SIZE_MAX
extern const struct trainer_row trainer_rows[];
extern const size_t trainer_rows_count;
uint64_t *trainer_setting_at(struct trainer_settings *s, size_t row); /* NULL: nowhere */

/* TRAINER_NEVER for a word, or a period, that means it. */
uint64_t trainer_switch(struct str value);

/* FAIL_USAGE: settings that the trainer rejects, or more than TRAINER_SESSIONS_MAX sessions. */
MUST_USE int trainer_plan(const struct trainer_settings *s, struct trainer_plan *out,
                          struct error *err);

/* Appends "generation_batch_size 64 = 8 per device x 2 processes x 4 steps: 64 sessions at once,
   8 prompts with 8 generations each". */
void trainer_describe(const struct trainer_settings *s, const struct trainer_plan *p,
                      struct buf *out);

/* Appends how long the environments' part of a batch takes: "32 rollouts x 6 turns x 20 ms = 3.8 s a
   batch (the trainer never overlaps two calls)". */
void trainer_describe_time(const struct trainer_plan *p, uint64_t turns, uint64_t step_us,
                           struct buf *out);

/* Sets the settings that the text names: JSON, TOML if the name ends in .toml, otherwise YAML; nested
   ones by their paths, as in grpo.num_prompts_per_step. Others are the trainer's business. Calls
   `skipped` for each line that is not understood and might have held a setting: another nested one
   that bears the name of a setting, an alias or an inline table where one may be, a reference, what
   the file inherits ("defaults"), or one that is no `key: value`. FAIL_INPUT, "NAME:LINE: ..": a
   setting whose value is no whole number from 1, or invalid JSON. */
MUST_USE int trainer_config_read(struct str text, const char *name, struct trainer_settings *s,
                                 void (*skipped)(void *ctx, int64_t line, struct str text),
                                 void *ctx, struct error *err);
