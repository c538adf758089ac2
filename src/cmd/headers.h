/* HTTP headers from the command line: --header 'Name: value', --header @FILE (a line
   each), and credentials from named environment variables, so that they need not stand in
   the shell's history. */
#ifndef ROLLDBG_CMD_HEADERS_H
#define ROLLDBG_CMD_HEADERS_H

#include "cmd/cmd.h"

struct header_options {
	struct opt_list headers, variables;
};

#define HEADER_OPTIONS(base)                                                             \
	{'H',                                                                            \
	 "header",                                                                       \
	 "HEADER|@FILE",                                                                 \
	 OPT_LIST,                                                                       \
	 (base) + OPT(struct header_options, headers),                                   \
	 "send this header ('Name: value') with every request; @FILE: one header a "     \
	 "line",                                                                         \
	 NULL},                                                                          \
	{                                                                                \
		0, "header-env", "NAME=VARIABLE", OPT_LIST,                              \
			(base) + OPT(struct header_options, variables),                  \
			"send header NAME with the value of an environment variable, "   \
			"for credentials",                                               \
			NULL                                                             \
	}

struct header_list {
	char **items; /* "Name: value" */
	size_t count;
};

/* FAIL_USAGE: no header, or a variable that is not set; FAIL_INPUT: the file. */
MUST_USE int headers_read(const struct context *c, const struct header_options *o,
                          struct header_list *out, struct error *err);
void headers_release(struct header_list *l);

#endif
