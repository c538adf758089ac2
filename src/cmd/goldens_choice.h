/* Which rollout of a recording is meant. */
#ifndef ROLLDBG_CMD_GOLDENS_CHOICE_H
#define ROLLDBG_CMD_GOLDENS_CHOICE_H

#include "cmd/goldens.h"

/* The one with that id; id NULL: the only one, or the first in which the rule finds something. All are
   of one file. FAIL_USAGE with the ids; FAIL_INPUT: the rule finds nothing in the file. rule may be
   NULL. */
MUST_USE int goldens_choose(const struct goldens *g, const char *rule, const char *id,
                            struct golden **out, struct error *err);

#endif
