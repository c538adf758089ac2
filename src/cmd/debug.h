/* The debugger session of `debug`, for other commands that start one. */
#pragma once

#include "cmd/options/action_options.h"
#include "cmd/options/model_options.h"
#include "cmd/options/target_options.h"

#define MEMBERS debug
#include "cmd/options/members.h"

/* Runs a live rollout until the expression is true, then reads commands. Returns the exit code, or
   -1; FAIL_USAGE for an invalid expression, before anything is started. */
MUST_USE int debug_until(const struct context *c, struct debug_options *o, const char *expression,
                         struct error *err);
/* Repeats the calls of a recording's rollout until a state differs, then reads commands. Returns
   the exit code (1 if a state differed), or -1. */
MUST_USE int debug_divergence(const struct context *c, struct debug_options *o, const char *file,
                              struct error *err);
