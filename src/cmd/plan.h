/* What `run` is to roll out: tasks from a file or one of the command line, how many
   samples of each, how many at a time. */
#ifndef ROLLDBG_CMD_PLAN_H
#define ROLLDBG_CMD_PLAN_H

#include "cmd/cmd.h"
#include "rollout/tasks.h"
#include "rollout/trainer.h"

#define JOBS_MAX 10000

/* Embedded in a command's options struct. */
struct plan_options {
	const char *tasks;
	struct opt_u64 group_size, jobs;
	struct trainer_options trainer;
};

#define PLAN_OPTIONS(base)                                                               \
	{0,                                                                              \
	 "tasks",                                                                        \
	 "FILE",                                                                         \
	 OPT_STR,                                                                        \
	 (base) + OPT(struct plan_options, tasks),                                       \
	 "roll out every task of a JSONL file, - for standard input; keys: id, seed, "   \
	 "vars, actions, tool, policy, max_turns, state",                                \
	 NULL},                                                                          \
		{'g',                                                                    \
	         "group-size",                                                           \
	         "G",                                                                    \
	         OPT_U64,                                                                \
	         (base) + OPT(struct plan_options, group_size),                          \
	         "roll out each task G times (default 1)",                               \
	         NULL},                                                                  \
		{'j',                                                                    \
	         "jobs",                                                                 \
	         "N",                                                                    \
	         OPT_U64,                                                                \
	         (base) + OPT(struct plan_options, jobs),                                \
	         "roll out N at a time (default 1)",                                     \
	         NULL},                                                                  \
		TRAINER_OPTIONS((base) + OPT(struct plan_options, trainer))

struct plan {
	struct tasks tasks; /* count 0: none were named */
	const char *file;   /* of the tasks, for messages; NULL: none */
	const char *name;   /* of the only task, or of all that have none; NULL: none */
	size_t count;       /* rollouts */
	size_t jobs;        /* at a time, at most count */
	size_t group_size;
	size_t groups;
	bool grouped; /* the user said how big a group is */
};

/* One rollout of it. */
struct planned {
	const struct task *task; /* NULL: the command line's */
	char name[ROLLOUT_TASK_MAX +
	          1]; /* of the task; "": as the environment is called */
	char id[ROLLOUT_TASK_MAX + 32]; /* of the rollout; "": not yet known */
	size_t sample;
};

/* Reads the task file; says the trainer's arithmetic on standard error. `task` is --task
   or NULL; `named` asks for ids that are known before anybody answers. FAIL_USAGE,
   FAIL_INPUT. */
MUST_USE int plan_make(struct plan *p, const struct plan_options *o, const char *task,
                       bool named, struct error *err);
void plan_release(struct plan *p);

/* Rollouts of a task stand together. */
void plan_nth(const struct plan *p, size_t index, struct planned *out);

#endif
