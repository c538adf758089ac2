/* What a peer is given: the variables of a stdio: server, and HTTP headers: --header 'Name: value', --header @FILE (one per line), and
   --header-env for credentials, which keeps them out of the shell's history. */
#ifndef ROLLDBG_CMD_OPTIONS_PASSED_H
#define ROLLDBG_CMD_OPTIONS_PASSED_H

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

/* ---- the variables of a stdio: server ---- */

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
