/* How many environment sessions a trainer opens at once, by its own arithmetic (TRL's
   GRPO: one environment a rollout of the generation batch, and that batch is the
   per-device batch x accumulation steps x processes, in groups of the generations of one
   prompt). Numbers in, numbers out. */
#ifndef ROLLDBG_ROLLOUT_TRAINER_H
#define ROLLDBG_ROLLOUT_TRAINER_H

#include "base/options.h"

/* The trainer's settings, embedded in a command's options struct. A factor that is not
   given counts once; without generations every rollout is a prompt of its own. */
struct trainer_options {
	struct opt_u64 generations, device_batch, accumulation, processes;
};

/* Rows of a command's table. */
#define TRAINER_OPTIONS(base)                                                            \
	{0,                                                                              \
	 "num-generations",                                                              \
	 "N",                                                                            \
	 OPT_U64,                                                                        \
	 (base) + OPT(struct trainer_options, generations),                              \
	 "trainer setting: num_generations, rollouts of each prompt",                    \
	 NULL},                                                                          \
		{0,                                                                      \
	         "per-device-batch",                                                     \
	         "N",                                                                    \
	         OPT_U64,                                                                \
	         (base) + OPT(struct trainer_options, device_batch),                     \
	         "trainer setting: per_device_train_batch_size",                         \
	         NULL},                                                                  \
		{0,                                                                      \
	         "grad-accum",                                                           \
	         "N",                                                                    \
	         OPT_U64,                                                                \
	         (base) + OPT(struct trainer_options, accumulation),                     \
	         "trainer setting: gradient_accumulation_steps",                         \
	         NULL},                                                                  \
	{                                                                                \
		0, "processes", "N", OPT_U64,                                            \
			(base) + OPT(struct trainer_options, processes),                 \
			"trainer setting: number of devices", NULL                       \
	}

#define TRAINER_SESSIONS_MAX 1000000

struct trainer_plan {
	uint64_t sessions;   /* open at the same time */
	uint64_t groups;     /* prompts */
	uint64_t group_size; /* generations of each; sessions = groups x group_size */
};

bool trainer_given(const struct trainer_options *o);

/* FAIL_USAGE: a factor of 0, more sessions than TRAINER_SESSIONS_MAX, or generations that
   do not divide them. */
MUST_USE int trainer_plan(const struct trainer_options *o, struct trainer_plan *out,
                          struct error *err);

/* Appends "8 a device x 4 accumulated x 2 processes = 64 sessions at once: 8 prompts with
   8 generations each". */
void trainer_say(const struct trainer_options *o, const struct trainer_plan *p,
                 struct buf *out);

#endif
