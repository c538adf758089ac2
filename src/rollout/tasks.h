/* A task file: one JSON object a line, each a task to be rolled out. The whole file is
   read and checked before anything is started; blank lines are passed over.

   id         string or whole number, required, of its own in the file (blanks and control
              characters become '_', as in rollout ids)
   seed       whole number: the episode's, instead of the run's
   vars       object: variables of the prompt, kept as they stand but for blanks
   reset      object: what the episode starts with, instead of the run's
   actions    "A,B,C" or an array of strings: instead of the run's
   tool, policy, state    strings, max_turns    whole number: instead of the options */
#ifndef ROLLDBG_ROLLOUT_TASKS_H
#define ROLLDBG_ROLLOUT_TASKS_H

#include "base/mem.h"
#include "json/keyed.h"
#include "rollout/rollout.h"

#define TASKS_MAX     1000000
#define TASK_LINE_MAX ((size_t)1 << 20)
#define TASK_FILE_MAX ((size_t)1 << 30)

/* Members not given are absent (NULL, has_x false). */
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

/* "-" is standard input. FAIL_INPUT, "FILE:LINE: what and how to fix it"; also for a file
   without tasks and for a missing policy file. */
MUST_USE int tasks_read(const char *path, struct tasks *out, struct error *err);
/* The same for the text of a file; name is for messages. */
MUST_USE int tasks_parse(struct str text, const char *name, struct tasks *out, struct error *err);
void tasks_release(struct tasks *t);

#endif
