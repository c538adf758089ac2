/* A task file: one JSON object per line, each a task to roll out. The whole file is read and
   checked before anything is started; empty lines are skipped.

     id         string or integer, required, unique in the file (whitespace and control
                characters become '_', as in rollout ids)
     seed       integer: the seed of the episode
     vars       object: variables of the prompt, kept unchanged except for whitespace
     reset      object: arguments of the reset
     actions    "A,B,C" or an array of strings
     tool, policy, state    strings; max_turns    integer

   Each key overrides the corresponding option of the run. */
#pragma once

#include "base/mem.h"
#include "json/keyed.h"
#include "rollout/rollout.h"

#define TASKS_MAX     1000000
#define TASK_LINE_MAX ((size_t)1 << 20)
#define TASK_FILE_MAX ((size_t)1 << 30)

/* Missing members are absent (NULL, has_x false). */
struct task {
	const char *id;
	size_t line; /* line in its file, from 1 */
	bool has_seed, has_max_turns;
	int64_t seed, max_turns;
	struct str vars;  /* raw JSON object */
	struct str reset; /* raw JSON object */
	const char *actions, *tool, *policy, *state;
};

/* The keys of a line, for the manual. */
extern const struct keyed_table task_keys;

/* A zeroed struct may be passed to tasks_release. */
struct tasks {
	struct task *items;
	size_t count;
	struct arena arena;
};

/* "-" is standard input. FAIL_INPUT, "FILE:LINE: problem and fix"; also for a file without
   tasks. */
MUST_USE int tasks_read(const char *path, struct tasks *out, struct error *err);
/* The same for a text; name is used in messages. */
MUST_USE int tasks_parse(struct str text, const char *name, struct tasks *out, struct error *err);
void tasks_release(struct tasks *t);
