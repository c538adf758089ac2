/* A recording as policy: the calls of one of its rollouts. */
#ifndef ROLLDBG_CMD_GOLDEN_POLICY_RECORDING_H
#define ROLLDBG_CMD_GOLDEN_POLICY_RECORDING_H

#include "cmd/golden/goldens.h"
#include "cmd/golden/tool_map.h"

/* If *policy is a file that begins like a recording, its calls are the policy: reads its only
   rollout, or the one with that id, and sets *policy to NULL. Otherwise, or if *policy is NULL, does nothing.
   o NULL: the command has no such option. FAIL_USAGE: it has several rollouts, or not that one; lists
   their ids. */
MUST_USE int goldens_read_policy(struct goldens *g, const char **policy,
                                 const struct recorded_options *o, struct error *err);
#endif
