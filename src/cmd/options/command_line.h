/* A command's options, from the project file and the command line; later sources override earlier
   ones. */
#ifndef ROLLDBG_CMD_OPTIONS_COMMAND_LINE_H
#define ROLLDBG_CMD_OPTIONS_COMMAND_LINE_H

#include "cmd/options/config.h"

struct command_line {
	struct config config; /* caller sets its first members: context, command, opts, opt_count */
	int argc;
	char **argv;
	void *values;       /* the command's options struct, zeroed */
	size_t size;        /* its size */
	const char *target; /* target of the named environment; NULL: none was named */
};

/* Checks the command line alone. Returns like options_parse, but leaves argv unchanged. */
MUST_USE int command_line_check(struct command_line *l, struct error *err);
/* Fills the values from all sources. Returns the number of operands, which are moved to the front
   of argv, or -1. */
MUST_USE int command_line_read(struct command_line *l, struct error *err);
void command_line_release(struct command_line *l);

#endif
