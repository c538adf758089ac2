/* Options from the project file and the command line: see command_line.h. */
#include "cmd/options/command_line.h"

#include <stdlib.h>

int command_line_check(struct command_line *l, struct error *err)
{
	char **copy = mem_array((size_t)l->argc + 1, sizeof(*copy));

	if (l->argc > 0) {
		memcpy(copy, l->argv, (size_t)l->argc * sizeof(*copy));
	}
	int operands = options_parse(l->config.opts, l->config.opt_count, false, l->argc, copy,
	                             l->values, err);
	free(copy);
	return operands;
}

static const char **env_of(const struct command_line *l)
{
	const struct opt *o = config_env_option(l->config.opts, l->config.opt_count);

	return o ? (const char **)(void *)((char *)l->values + o->offset) : NULL;
}

/* Precedence of settings: defaults, then the environment's, then the command line. The
   environment's name comes from the command line, else from the defaults. */
int command_line_read(struct command_line *l, struct error *err)
{
	struct config *f = &l->config;
	const char **env = env_of(l), *name = env ? *env : NULL;
	bool typed = name != NULL;

	memset(l->values, 0, l->size);
	if (config_open(f, err) || config_defaults(f, l->values, err)) {
		return -1;
	}
	name = name ? name : env ? *env : NULL;
	if (name && config_is_name(f, name) &&
	    config_environment(f, name, typed, l->values, &l->target, err)) {
		return -1;
	}
	const struct option_listener listener = {config_note, f};
	int operands = options_parse_noting(f->opts, f->opt_count, l->argc, l->argv, l->values,
	                                    &listener, err);
	if (operands >= 0 && l->target) {
		*env = l->target;
	}
	return operands;
}

void command_line_release(struct command_line *l)
{
	config_release(&l->config);
}
