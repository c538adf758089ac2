/* How many environment sessions a trainer opens at once, by TRL's own arithmetic. Its GRPO trainer opens one
   environment for each rollout of a generation batch. GRPOConfig.__post_init__ (TRL 1.16) settles that batch:

     # The current default effective batch size
     if self.generation_batch_size is None and self.steps_per_generation is None:
         self.steps_per_generation = self.gradient_accumulation_steps
         self.generation_batch_size = self.per_device_train_batch_size * num_processes * self.steps_per_generation

   Given generation_batch_size instead of steps_per_generation, it must be divisible by per_device_train_batch_size *
   num_processes; given both, it refuses. "The generation batch must contain full prompt groups (no partials), so it
   must be divisible by num_generations", and num_generations is at least 2. */
#ifndef ROLLDBG_ROLLOUT_TRAINER_H
#define ROLLDBG_ROLLOUT_TRAINER_H

#include "base/buf.h"
#include "base/error.h"

/* The trainer's settings, under TRL's names. 0: not given, TRL's default. */
struct trainer_settings {
	uint64_t num_generations;             /* 8 */
	uint64_t per_device_train_batch_size; /* 8 */
	uint64_t gradient_accumulation_steps; /* 1 */
	uint64_t num_processes;               /* 1 */
	uint64_t steps_per_generation;        /* gradient_accumulation_steps */
	uint64_t generation_batch_size;       /* as above */
};

#define TRAINER_SESSIONS_MAX 1000000

struct trainer_plan {
	uint64_t sessions;   /* open at the same time: generation_batch_size */
	uint64_t groups;     /* prompts */
	uint64_t group_size; /* generations of each; sessions = groups x group_size */
};

/* FAIL_USAGE: what TRL refuses, or more sessions than TRAINER_SESSIONS_MAX. */
MUST_USE int trainer_plan(const struct trainer_settings *s, struct trainer_plan *out,
                          struct error *err);

/* Appends "generation_batch_size 64 = 8 per device x 2 processes x 4 steps: 64 sessions at once, 8 prompts with 8
   generations each". */
void trainer_say(const struct trainer_settings *s, const struct trainer_plan *p, struct buf *out);

#endif
