/* The environment variables of a stdio: server: those that the MCP SDKs pass on, which contain no
   secrets, and those named by --pass-env. */
#ifndef ROLLDBG_CMD_OPTIONS_CHILD_VARIABLES_H
#define ROLLDBG_CMD_OPTIONS_CHILD_VARIABLES_H

#include "cmd/cmd.h"
#include "cmd/options/headers.h"

struct child_variables {
	char **items; /* "NAME=value", NULL-terminated; items is NULL if there are none */
	size_t count;
};

/* FAIL_USAGE if a variable is not set, or contains a credential for another peer (variables used
   for headers are never passed on). */
MUST_USE int child_variables_read(const struct context *c, const struct opt_list *names,
                                  const struct header_options *headers, struct child_variables *out,
                                  struct error *err);

/* Removes a variable; FAIL_USAGE if it is among the names. */
MUST_USE int child_variables_withhold(struct child_variables *v, const struct opt_list *names,
                                      const char *name, struct error *err);
void child_variables_release(struct child_variables *v);

#endif
