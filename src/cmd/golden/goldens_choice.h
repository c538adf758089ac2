/* Selects one rollout of a recording. */
#ifndef ROLLDBG_CMD_GOLDEN_GOLDENS_CHOICE_H
#define ROLLDBG_CMD_GOLDEN_GOLDENS_CHOICE_H

#include "cmd/golden/goldens.h"

/* The rollout with that id; if id is NULL, the only one, or the first with a finding of the rule
   (which may be NULL). All rollouts are of one file. FAIL_USAGE with the available ids; FAIL_INPUT:
   the rule finds nothing in the file. */
MUST_USE int goldens_choose(const struct goldens *g, const char *rule, const char *id,
                            struct golden **out, struct error *err);

#endif
