/* A session of the debugger as `debug` has it: for the commands that lead into one. */
#ifndef ROLLDBG_CMD_DEBUG_H
#define ROLLDBG_CMD_DEBUG_H

#include "cmd/model.h"
#include "cmd/target.h"

struct debug_options {
	struct target_options target;
	const char *rollout, *out, *interpreter;
	const char *actions, *tool, *argument, *policy, *task;
	struct opt_u64 max_turns;
	struct opt_list files, commands;
	bool live; /* also without an environment: on the built-in lake */
	bool batch, force, force_call;
	struct model_options model;
};

/* Runs a live rollout until the expression holds, then reads commands. The exit code, or -1;
   FAIL_USAGE for a wrong expression, before anything is started. */
MUST_USE int debug_until(const struct context *c, struct debug_options *o, const char *expression,
                         struct error *err);
/* Runs the calls of a recording's rollout again until a state differs, then reads commands. The exit
   code, or -1. */
MUST_USE int debug_divergence(const struct context *c, struct debug_options *o, const char *file,
                              struct error *err);

#endif
