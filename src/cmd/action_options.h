/* What --actions calls: options of `run`, `debug` and `probe`. */
#ifndef ROLLDBG_CMD_ACTION_OPTIONS_H
#define ROLLDBG_CMD_ACTION_OPTIONS_H

#include "cmd/options.h"

/* Embedded in a command's options struct. */
struct action_options {
	const char *tool, *argument;
};

extern const struct option_group action_group;

#endif
