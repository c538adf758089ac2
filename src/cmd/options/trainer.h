/* The trainer's settings as options, under TRL's own names. */
#ifndef ROLLDBG_CMD_OPTIONS_TRAINER_H
#define ROLLDBG_CMD_OPTIONS_TRAINER_H

#include "cmd/options/options.h"
#include "rollout/trainer.h"

/* Embedded in a command's options struct. */
struct trainer_options {
	struct opt_u64 num_generations, per_device_train_batch_size, gradient_accumulation_steps;
	struct opt_u64 num_processes, steps_per_generation, generation_batch_size;
	struct opt_u64 per_device_eval_batch_size, max_inflight_tasks, max_staleness;
	struct opt_u64 max_concurrent, num_samples_in_parallel;
	const char *trainer, *eval_strategy;
	struct opt_list configs;
};
extern const struct option_group trainer_group;

bool trainer_given(const struct trainer_options *o);

/* Computes the plan. FAIL_USAGE for a setting of 0, or one that the
   trainer refuses; FAIL_INPUT for a configuration that cannot be read. `description` receives
   the arithmetic as a sentence. */
MUST_USE int trainer_read(const struct trainer_options *o, struct trainer_plan *plan,
                          struct buf *description, struct error *err);

#endif
