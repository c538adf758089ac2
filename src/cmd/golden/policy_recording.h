/* A recording as policy: the calls of one of its rollouts, or of each, a task each. */
#ifndef ROLLDBG_CMD_GOLDEN_POLICY_RECORDING_H
#define ROLLDBG_CMD_GOLDEN_POLICY_RECORDING_H

#include "cmd/golden/goldens.h"
#include "cmd/golden/tool_map.h"

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
