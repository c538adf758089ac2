/* Batch sizes of trainers: see trainer.h. */
#include "rollout/trainer.h"

#include <inttypes.h>

#define PER_DEVICE_TRAIN_BATCH_SIZE 8
#define NUM_GENERATIONS             8

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

/* Returns false if the product exceeds the maximum. */
static bool multiply(uint64_t a, uint64_t b, uint64_t *out)
{
	return !__builtin_mul_overflow(a, b, out) && *out <= TRAINER_SESSIONS_MAX;
}

static int too_many(struct error *err)
{
	return error_set(err, FAIL_USAGE, "generation_batch_size is more than %d",
	                 TRAINER_SESSIONS_MAX);
}

static int find_batch_size(const struct trainer_settings *s, uint64_t *batch, struct error *err)
{
	uint64_t global, steps = given_or(s->gradient_accumulation_steps, 1);

	if (s->generation_batch_size && s->steps_per_generation) {
		return error_set(err, FAIL_USAGE,
		                 "generation_batch_size and steps_per_generation cannot both be "
		                 "given");
	}
	if (!multiply(per_device(s), processes(s), &global)) {
		return too_many(err);
	}
	if (!s->generation_batch_size) {
		steps = given_or(s->steps_per_generation, steps);
		return multiply(global, steps, batch) ? 0 : too_many(err);
	}
	*batch = s->generation_batch_size;
	if (*batch % global) {
		return error_set(err, FAIL_USAGE,
		                 "generation_batch_size (%" PRIu64
		                 ") must be divisible by the global batch size "
		                 "(per_device_train_batch_size %" PRIu64 " x num_processes %" PRIu64
		                 " = %" PRIu64 ")",
		                 *batch, per_device(s), processes(s), global);
	}
	return *batch <= TRAINER_SESSIONS_MAX ? 0 : too_many(err);
}

int trainer_plan(const struct trainer_settings *s, struct trainer_plan *out, struct error *err)
{
	struct trainer_plan p = {.group_size = given_or(s->num_generations, NUM_GENERATIONS)};

	if (find_batch_size(s, &p.sessions, err)) {
		return -1;
	}
	if (p.group_size < 2) {
		return error_set(err, FAIL_USAGE,
		                 "num_generations (%" PRIu64
		                 "): GRPO compares the generations of a prompt with each other "
		                 "and needs at least 2",
		                 p.group_size);
	}
	if (p.sessions % p.group_size) {
		return error_set(err, FAIL_USAGE,
		                 "generation_batch_size (%" PRIu64
		                 ") must be divisible by num_generations (%" PRIu64 ")",
		                 p.sessions, p.group_size);
	}
	p.groups = p.sessions / p.group_size;
	*out = p;
	return 0;
}

void trainer_describe(const struct trainer_settings *s, const struct trainer_plan *p,
                      struct buf *out)
{
	uint64_t global = per_device(s) * processes(s), steps = p->sessions / global;

	buf_printf(out,
	           "generation_batch_size %" PRIu64 " = %" PRIu64 " per device x %" PRIu64
	           " process%s x %" PRIu64 " step%s: %" PRIu64 " sessions at once, %" PRIu64
	           " prompt%s with %" PRIu64 " generations each",
	           p->sessions, per_device(s), processes(s), processes(s) == 1 ? "" : "es", steps,
	           steps == 1 ? "" : "s", p->sessions, p->groups, p->groups == 1 ? "" : "s",
	           p->group_size);
}
