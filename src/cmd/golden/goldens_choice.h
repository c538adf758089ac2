/* Selects one rollout of a recording: of a golden, or as policy. */
#ifndef ROLLDBG_CMD_GOLDEN_GOLDENS_CHOICE_H
#define ROLLDBG_CMD_GOLDEN_GOLDENS_CHOICE_H

#include "cmd/golden/goldens.h"

/* The rollout with that id; if id is NULL, the only one, or the first with a finding of the rule
   (which may be NULL). All rollouts are of one file. FAIL_USAGE with the available ids; FAIL_INPUT:
   the rule finds nothing in the file. */
MUST_USE int goldens_choose(const struct goldens *g, const char *rule, const char *id,
                            struct golden **out, struct error *err);

/* goldens_check_environment for the first rollout of a file, if that is a regular one. */
MUST_USE int goldens_check_file(const char *file, const struct target_options *o,
                                struct error *err);

/* If *policy is a file that begins like a recording, its calls are the policy: reads its only
   rollout, or the one with that id, and sets *policy to NULL. Otherwise, or if *policy is NULL, does nothing.
   Without an id all of several are read, and none is chosen; o NULL: the command has no such option, and needs one.
   FAIL_USAGE: it has several rollouts, or not that one; lists their ids. */
MUST_USE int goldens_read_policy(struct goldens *g, const char **policy,
                                 const struct recorded_options *o, struct error *err);

/* Appends a task file with a task for each rollout, if none is chosen: its seed and reset arguments. */
void goldens_as_tasks(const struct goldens *g, struct buf *out);
/* The calls of the chosen rollout, or of the task's first one; absent: there is none. t may be NULL. */
struct str goldens_policy_of(const struct goldens *g, const struct task *t);

#endif
