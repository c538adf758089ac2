/* Have the tools that a golden calls changed? */
#ifndef ROLLDBG_COMPARE_TOOLS_H
#define ROLLDBG_COMPARE_TOOLS_H

#include "compare/rollout_copy.h"

/* Takes one sentence about a tool. */
typedef void tool_change_fn(void *ctx, const char *sentence);

/* Of each tool that the first rollout called and its header lists: is it in the second one's
   header, and is its input schema the same? Nothing is said where either header has no list. */
void compare_tools(const struct rollout_copy *golden, const struct rollout_copy *got,
                   tool_change_fn *say, void *ctx);

#endif
