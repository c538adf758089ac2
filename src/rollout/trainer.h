/* How many environment sessions a trainer opens at once. TRL's GRPO trainer opens one environment
   for each rollout of a generation batch, which holds (GRPOConfig.__post_init__, TRL 1.16)

     per_device_train_batch_size x num_processes x steps_per_generation

   rollouts, with gradient_accumulation_steps in place of steps_per_generation if that is not given.
   TRL rejects generation_batch_size together with steps_per_generation, one that is not a multiple
   of per_device_train_batch_size x num_processes, a batch that is not a multiple of
   num_generations, and fewer than 2 generations. */
#ifndef ROLLDBG_ROLLOUT_TRAINER_H
#define ROLLDBG_ROLLOUT_TRAINER_H

#include "base/buf.h"
#include "base/error.h"

/* The trainer's settings, by TRL's names. 0: not given, use TRL's default. */
struct trainer_settings {
	uint64_t num_generations;             /* 8 */
	uint64_t per_device_train_batch_size; /* 8 */
	uint64_t gradient_accumulation_steps; /* 1 */
	uint64_t num_processes;               /* 1 */
	uint64_t steps_per_generation;        /* gradient_accumulation_steps */
	/* per_device_train_batch_size x num_processes x steps_per_generation */
	uint64_t generation_batch_size;
};

#define TRAINER_SESSIONS_MAX 1000000

struct trainer_plan {
	uint64_t sessions;   /* open at the same time: generation_batch_size */
	uint64_t groups;     /* prompts */
	uint64_t group_size; /* generations per prompt; sessions = groups x group_size */
};

/* FAIL_USAGE: settings that TRL rejects, or more than TRAINER_SESSIONS_MAX sessions. */
MUST_USE int trainer_plan(const struct trainer_settings *s, struct trainer_plan *out,
                          struct error *err);

/* Appends "generation_batch_size 64 = 8 per device x 2 processes x 4 steps: 64 sessions at once,
   8 prompts with 8 generations each". */
void trainer_describe(const struct trainer_settings *s, const struct trainer_plan *p,
                      struct buf *out);

#endif
