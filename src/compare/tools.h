/* Recognizes that a golden is of another environment. */
#ifndef ROLLDBG_COMPARE_TOOLS_H
#define ROLLDBG_COMPARE_TOOLS_H

#include "compare/rollout_copy.h"

/* Receives one sentence. */
typedef void other_env_fn(void *ctx, const char *sentence);

/* Does the second header name another environment, which lacks a tool that the first rollout called? Then one
   sentence says so. */
void compare_tools(const struct rollout_copy *golden, const struct rollout_copy *got,
                   other_env_fn *say, void *ctx);

#endif
