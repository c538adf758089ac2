/* Reports changes of the tools that a golden calls. */
#ifndef ROLLDBG_COMPARE_TOOLS_H
#define ROLLDBG_COMPARE_TOOLS_H

#include "compare/rollout_copy.h"

/* Receives one sentence about a tool. */
typedef void tool_change_fn(void *ctx, const char *sentence);

/* For each tool that the first rollout called and its header lists: is it in the second one's
   header, with the same input schema? Reports nothing if either header has no list. */
void compare_tools(const struct rollout_copy *golden, const struct rollout_copy *got,
                   tool_change_fn *say, void *ctx);

#endif
