/* HTTP headers from the command line: --header 'Name: value', --header @FILE (one per line), and
   --header-env for credentials, which keeps them out of the shell's history. */
#ifndef ROLLDBG_CMD_OPTIONS_HEADERS_H
#define ROLLDBG_CMD_OPTIONS_HEADERS_H

#include "cmd/cmd.h"

struct header_options {
	struct opt_list headers, variables;
};

extern const struct option_group header_group;

struct header_list {
	char **items; /* "Name: value" */
	size_t count;
	size_t given; /* the first `given` come from --header, the rest from --header-env */
};

/* FAIL_USAGE for an invalid header or an unset variable; FAIL_INPUT for the file. */
MUST_USE int headers_read(const struct context *c, const struct header_options *o,
                          struct header_list *out, struct error *err);
void headers_release(struct header_list *l);

#endif
