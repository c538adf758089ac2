/* Reads the trainer's settings: see trainer.h. */
#include "cmd/options/trainer.h"

#define FIELD(f) offsetof(struct trainer_options, f)

static const struct opt rows[] = {
	OPT_NUMBER(0, "num-generations", OPT_HARMLESS, "N", FIELD(num_generations),
                   "rollouts per prompt (TRL's default: 8)"),
	OPT_NUMBER(0, "per-device-train-batch-size", OPT_HARMLESS, "N",
                   FIELD(per_device_train_batch_size),
                   "rollouts per process and step (TRL's default: 8)"),
	OPT_NUMBER(0, "gradient-accumulation-steps", OPT_HARMLESS, "N",
                   FIELD(gradient_accumulation_steps),
                   "steps per optimizer update (TRL's default: 1)"),
	OPT_NUMBER(0, "num-processes", OPT_HARMLESS, "N", FIELD(num_processes),
                   "number of devices (default: 1)"),
	OPT_NUMBER(0, "steps-per-generation", OPT_HARMLESS, "N", FIELD(steps_per_generation),
                   "steps per generation batch (TRL's default: "
                   "gradient_accumulation_steps)"),
	OPT_NUMBER(0, "generation-batch-size", OPT_HARMLESS, "N", FIELD(generation_batch_size),
                   "rollouts (and sessions) at once; replaces --steps-per-generation "
                   "(TRL's default: per_device_train_batch_size x num_processes x "
                   "steps_per_generation)"),
};
const struct option_group trainer_group = {rows, ARRAY_LEN(rows), "trainer settings"};

static const struct opt_u64 *setting(const struct trainer_options *o, size_t i)
{
	return (const struct opt_u64 *)(const void *)((const char *)o + rows[i].offset);
}

bool trainer_given(const struct trainer_options *o)
{
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		if (setting(o, i)->given) {
			return true;
		}
	}
	return false;
}

int trainer_read(const struct trainer_options *o, struct trainer_plan *plan,
                 struct buf *description, struct error *err)
{
	struct trainer_settings s = {
		.num_generations = o->num_generations.value,
		.per_device_train_batch_size = o->per_device_train_batch_size.value,
		.gradient_accumulation_steps = o->gradient_accumulation_steps.value,
		.num_processes = o->num_processes.value,
		.steps_per_generation = o->steps_per_generation.value,
		.generation_batch_size = o->generation_batch_size.value,
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		if (setting(o, i)->given && setting(o, i)->value == 0) {
			return error_set(err, FAIL_USAGE, "--%s must be at least 1", rows[i].name);
		}
	}
	if (trainer_plan(&s, plan, err)) {
		return -1;
	}
	trainer_describe(&s, plan, description);
	return 0;
}
