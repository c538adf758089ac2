/* The trainer's arithmetic: what it opens at once, what it refuses, how it is said. */
#include "rollout/trainer.h"
#include "tap.h"

#define NONE                                                                             \
	{                                                                                \
		false, 0                                                                 \
	}
#define N(n)                                                                             \
	{                                                                                \
		true, n                                                                  \
	}

static const struct {
	struct trainer_options options;
	struct trainer_plan plan;
	const char *said;
} good[] = {
	{{N(8), N(8), N(4), N(2)},
         {64, 8, 8},
         "8 a device x 4 accumulated x 2 processes = 64 sessions at once: 8 prompts with "
         "8 generations each"},
	{{N(8), N(8), NONE, NONE},
         {8, 1, 8},
         "8 a device x 1 accumulated x 1 process = 8 sessions at once: 1 prompt with 8 "
         "generations each"},
	{{NONE, N(16), N(2), NONE},
         {32, 32, 1},
         "16 a device x 2 accumulated x 1 process = 32 sessions at once: 32 prompts with "
         "1 generation each"},
	{{N(1), NONE, NONE, NONE},
         {1, 1, 1},
         "1 a device x 1 accumulated x 1 process = 1 session at once: 1 prompt with 1 "
         "generation each"},
	{{N(16), N(4), N(4), NONE},
         {16, 1, 16},
         "4 a device x 4 accumulated x 1 process = 16 sessions at once: 1 prompt with 16 "
         "generations each"},
	{{NONE, N(1000), N(1000), N(1)},
         {1000000, 1000000, 1},
         "1000 a device x 1000 accumulated x 1 process = 1000000 sessions at once: "
         "1000000 prompts with 1 generation each"},
};

static const struct {
	struct trainer_options options;
	const char *message;
} bad[] = {
	{{N(0), N(8), NONE, NONE}, "--num-generations 0: a trainer has at least 1"},
	{{NONE, N(0), NONE, NONE}, "--per-device-batch 0: a trainer has at least 1"},
	{{NONE, N(1), N(0), NONE}, "--grad-accum 0: a trainer has at least 1"},
	{{NONE, N(1), N(1), N(0)}, "--processes 0: a trainer has at least 1"},
	{{N(8), NONE, NONE, NONE},
         "the generation batch (per-device batch 1 x accumulation 1 x processes 1 = 1) "
         "must be divisible by num_generations (8)"},
	{{N(6), N(8), N(2), NONE},
         "the generation batch (per-device batch 8 x accumulation 2 x processes 1 = 16) "
         "must be divisible by num_generations (6)"},
	{{NONE, N(1001), N(1000), NONE},
         "--per-device-batch x --grad-accum x --processes is more than 1000000 sessions"},
	{{NONE, N(UINT64_MAX), N(UINT64_MAX), N(2)},
         "--per-device-batch x --grad-accum x --processes is more than 1000000 sessions"},
	{{N(UINT64_MAX), N(8), NONE, NONE},
         "the generation batch (per-device batch 8 x accumulation 1 x processes 1 = 8) "
         "must be divisible by num_generations (18446744073709551615)"},
};

int main(void)
{
	const struct trainer_options nothing = {NONE, NONE, NONE, NONE};

	ok(!trainer_given(&nothing), "no setting is no trainer");
	for (size_t i = 0; i < ARRAY_LEN(good); i++) {
		struct trainer_plan p = {0};
		struct buf said = BUF(BUF_MAX_SMALL);
		struct error err = {0};

		ok(trainer_given(&good[i].options), "%s: given", good[i].said);
		ok(trainer_plan(&good[i].options, &p, &err) == 0, "it is a plan");
		is_int(p.sessions, good[i].plan.sessions, "sessions");
		is_int(p.groups, good[i].plan.groups, "groups");
		is_int(p.group_size, good[i].plan.group_size, "their size");
		trainer_say(&good[i].options, &p, &said);
		is_str(buf_cstr(&said), good[i].said, "said");
		buf_release(&said);
	}
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		struct trainer_plan p = {0};
		struct error err = {0};

		ok(trainer_plan(&bad[i].options, &p, &err) == -1, "%s", bad[i].message);
		is_int(err.kind, FAIL_USAGE, "a usage error");
		is_str(err.text, bad[i].message, "in these words");
		is_int(p.sessions, 0, "and no plan");
	}
	return done();
}
