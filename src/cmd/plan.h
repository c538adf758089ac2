/* The rollouts of `run`: tasks from a file, or a single one from the command line, the samples of
   each, and how many run at a time. */
#pragma once

#include "cmd/cmd.h"
#include "cmd/options/shard.h"
#include "cmd/options/target_options.h"
#include "cmd/options/trainer_options.h"
#include "rollout/rollout.h"
#include "rollout/tasks.h"

#define JOBS_MAX 10000

#define MEMBERS plan
#include "cmd/options/members.h"

struct plan {
	struct str made;    /* a task file as text; absent: none */
	struct tasks tasks; /* count 0: none given */
	bool of_env;        /* they are the environment's own */
	const char *file;   /* task file, for messages; may be NULL */
	const char *name;   /* of the only task, or of all tasks without a name; may be NULL */
	size_t count;       /* rollouts */
	size_t jobs;        /* at a time, at most count */
	size_t group_size;
	size_t groups;     /* tasks of this shard */
	size_t all_groups; /* tasks of all shards */
	size_t *kept;      /* numbers of the tasks of this shard; NULL: all */
	bool grouped;      /* the user gave a group size */
	struct shard shard;
	unsigned char *fates; /* one per rollout of a shard; NULL: not divided */
};

/* How a rollout ended, for the manifest of a shard. */
enum fate {
	FATE_NOT_STARTED,
	FATE_DONE,
	FATE_REFUSED,
	FATE_UNREACHABLE,
	FATE_LOST, /* its environment, or its model, during the rollout */
	FATE_TIMED_OUT,
	FATE_FAILED,
	FATE_INTERRUPTED,
	FATES
};

/* One rollout of the plan. */
struct planned {
	const struct task *task;         /* NULL: options on the command line */
	char name[ROLLOUT_TASK_MAX + 1]; /* task name; "": the environment's name */
	char id[ROLLOUT_TASK_MAX + 32];  /* rollout id; "": not known yet */
	size_t sample;
};

/* Reads the task file, or p->made (set before; used without --tasks), or asks the environment for its tasks,
   and prints the trainer's arithmetic to standard error. `task` is --task or NULL; `named` requires ids that are
   known before a server replies. FAIL_USAGE, FAIL_INPUT; of the environment also FAIL_TRANSPORT and
   FAIL_PROTOCOL. */
MUST_USE int plan_make(struct plan *p, const struct context *c, const struct plan_options *o,
                       const struct env_target *target, const char *task, bool named,
                       struct error *err);
void plan_release(struct plan *p);

/* The index-th rollout of this shard; the rollouts of a task are consecutive. A shard may have none. */
void plan_nth(const struct plan *p, size_t index, struct planned *out);

/* Notes how it ended, by what rollout_run returned; each rollout in its own thread. */
void plan_ended(const struct plan *p, size_t index, int failed, const struct rollout_result *r);

/* Values of the task override those of the options. */
void plan_apply_task(const struct task *t, struct rollout_conf *conf);

/* policy_check of the options' policy with the task's values; task may be NULL. */
MUST_USE int plan_check_policy(const struct plan *p, const struct task *t,
                               struct policy_conf policy, struct error *err);

/* Prefixes an error with the task's position in its file, and makes it FAIL_INPUT if the task's own
   values caused it. */
void plan_blame_task(const struct plan *p, const struct task *t, struct error *err);
