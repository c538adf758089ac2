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
   has no default. */
#pragma once

#include "base/buf.h"
#include "base/error.h"
#include "rollout/trainer.h"

enum trainer_kind { TRAINER_TRL, TRAINER_TRL_ASYNC, TRAINER_VERIFIERS, TRAINER_NEMO_GYM };

/* The trainer's settings, by their own names. 0: not given, use the trainer's default. */
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
	bool evaluates; /* eval_strategy is given, and not "no" */
	enum trainer_kind kind;
};

#define TRAINER_SESSIONS_MAX 1000000

struct trainer_plan {
	uint64_t sessions;   /* open at the same time */
	uint64_t groups;     /* prompts of a generation batch; 0: unknown */
	uint64_t group_size; /* generations per prompt; 0: unknown */
	bool serial;         /* never two calls at a time */
};

/* The numbers by name, with the place of each in struct trainer_settings. */
struct trainer_number {
	const char *name; /* as in the trainer's configuration */
	size_t offset;
};
extern const struct trainer_number trainer_numbers[];
extern const size_t trainer_numbers_count;
uint64_t *trainer_number_at(struct trainer_settings *s, size_t i);

/* True unless it is a word for "never". */
bool trainer_evaluates(struct str eval_strategy);

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

/* Sets the settings that the text names; others are the trainer's business. Calls `skipped` for
   each line that is not understood and might have held a setting: a nested one that bears the name of
   a setting, or one that is no `key: value`. FAIL_INPUT, "NAME:LINE: ..": a setting whose value is no
   whole number from 1, or invalid JSON. */
MUST_USE int trainer_config_read(struct str text, const char *name, struct trainer_settings *s,
                                 void (*skipped)(void *ctx, int64_t line, struct str text),
                                 void *ctx, struct error *err);
