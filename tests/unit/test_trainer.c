/* Batch sizes of trainers: parallel sessions, refused settings, and their description. */
#include "rollout/trainer.h"
#include "tap.h"

static const struct {
	struct trainer_settings settings;
	struct trainer_plan plan;
	const char *said;
} good[] = {
	{{0},
         {8, 1, 8},
         "generation_batch_size 8 = 8 per device x 1 process x 1 step: 8 sessions at once, 1 prompt with 8 generations each"},
	{{.gradient_accumulation_steps = 4},
         {32, 4, 8},
         "generation_batch_size 32 = 8 per device x 1 process x 4 steps: 32 sessions at once, 4 prompts with 8 generations each"},
	{{.num_processes = 4},
         {32, 4, 8},
         "generation_batch_size 32 = 8 per device x 4 processes x 1 step: 32 sessions at once, 4 prompts with 8 generations each"},
	{{.num_generations = 8},
         {8, 1, 8},
         "generation_batch_size 8 = 8 per device x 1 process x 1 step: 8 sessions at once, 1 prompt with 8 generations each"},
	{{8, 8, 4, 2, 0, 0},
         {64, 8, 8},
         "generation_batch_size 64 = 8 per device x 2 processes x 4 steps: 64 sessions at once, 8 prompts with 8 generations each"},
	{{.num_generations = 4, .gradient_accumulation_steps = 4, .steps_per_generation = 2},
         {16, 4, 4},
         "generation_batch_size 16 = 8 per device x 1 process x 2 steps: 16 sessions at once, 4 prompts with 4 generations each"},
	{{.num_generations = 12, .gradient_accumulation_steps = 4, .generation_batch_size = 24},
         {24, 2, 12},
         "generation_batch_size 24 = 8 per device x 1 process x 3 steps: 24 sessions at once, 2 prompts with 12 generations each"},
	{{.per_device_train_batch_size = 1000, .num_processes = 1000},
         {1000000, 125000, 8},
         "generation_batch_size 1000000 = 1000 per device x 1000 processes x 1 step: 1000000 sessions at once, 125000 prompts with 8 generations each"},
};

static const struct {
	struct trainer_settings settings;
	const char *message;
} bad[] = {
	{{.num_generations = 1},
         "num_generations (1): GRPO compares the generations of a prompt with each other and needs at least 2"},
	{{.per_device_train_batch_size = 1},
         "generation_batch_size (1) must be divisible by num_generations (8)"},
	{{6, 8, 2, 0, 0, 0}, "generation_batch_size (16) must be divisible by num_generations (6)"},
	{{.generation_batch_size = 20, .num_processes = 2},
         "generation_batch_size (20) must be divisible by the global batch size (per_device_train_batch_size 8 x num_processes 2 = 16)"},
	{{.generation_batch_size = 16, .steps_per_generation = 2},
         "generation_batch_size and steps_per_generation cannot both be given"},
	{{.per_device_train_batch_size = 1001, .gradient_accumulation_steps = 1000},
         "generation_batch_size is more than 1000000"},
	{{.per_device_train_batch_size = UINT64_MAX,
          .gradient_accumulation_steps = UINT64_MAX,
          .num_processes = 2},
         "generation_batch_size is more than 1000000"},
	{{.generation_batch_size = 8000000}, "generation_batch_size is more than 1000000"},
	{{.num_generations = UINT64_MAX},
         "generation_batch_size (8) must be divisible by num_generations (18446744073709551615)"},
};

int main(void)
{
	for (size_t i = 0; i < ARRAY_LEN(good); i++) {
		struct trainer_plan p = {0};
		struct buf said = BUF(BUF_MAX_SMALL);
		struct error err = {0};

		ok(trainer_plan(&good[i].settings, &p, &err) == 0, "%s", good[i].said);
		is_int(p.sessions, good[i].plan.sessions, "sessions");
		is_int(p.groups, good[i].plan.groups, "groups");
		is_int(p.group_size, good[i].plan.group_size, "their size");
		trainer_describe(&good[i].settings, &p, &said);
		is_str(buf_cstr(&said), good[i].said, "said");
		buf_release(&said);
	}
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		struct trainer_plan p = {0};
		struct error err = {0};

		ok(trainer_plan(&bad[i].settings, &p, &err) == -1, "%s", bad[i].message);
		is_int(err.kind, FAIL_USAGE, "a usage error");
		is_str(err.text, bad[i].message, "in these words");
		is_int(p.sessions, 0, "and no plan");
	}
	return done();
}
