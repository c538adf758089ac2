/* A command's options, from the project file and the command line: what stands later wins. */
#ifndef ROLLDBG_CMD_COMMAND_LINE_H
#define ROLLDBG_CMD_COMMAND_LINE_H

#include "cmd/config.h"

struct command_line {
	struct config config; /* its first members set: context, command, opts, opt_count */
	int argc;
	char **argv;
	void *values;       /* zeroed */
	size_t size;        /* of the values */
	const char *target; /* what the named environment stands for; NULL: none was named */
};

/* Checks the command line alone. Returns like options_parse, but argv stays as it is. */
MUST_USE int command_line_check(struct command_line *l, struct error *err);
/* Fills the values anew. Returns the number of operands, which are first in argv then, or -1. */
MUST_USE int command_line_read(struct command_line *l, struct error *err);
void command_line_release(struct command_line *l);

#endif
