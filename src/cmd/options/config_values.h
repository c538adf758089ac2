/* Values in configuration files: expansion of variables, quoting for a shell. */
#ifndef ROLLDBG_CMD_OPTIONS_CONFIG_VALUES_H
#define ROLLDBG_CMD_OPTIONS_CONFIG_VALUES_H

#include "cmd/options/policies.h"
#include "json/tree.h"

#define CONFIG_VARIABLES 16

/* Names of the variables a text contained, in the keyed reader's arena. */
struct config_variables {
	const char *name[CONFIG_VARIABLES];
	size_t at[CONFIG_VARIABLES]; /* offsets in the text */
	size_t count;
};

/* Replaces ${NAME}, ${env:NAME} and ${NAME:-DEFAULT} in the string. FAIL_INPUT, with the
   line, if a variable is not set. `used` may be NULL. */
MUST_USE int config_expand(struct keyed *k, const cJSON *string, environment *variable,
                           const char **out, struct config_variables *used);

/* The same for a target, a word of a command or another setting, adding to `secret` the variables
   whose values are secret: those with a credential's name, and all in a URL behind its host. */
MUST_USE int config_expand_target(struct keyed *k, const cJSON *string, environment *variable,
                                  const char **out, struct config_variables *secret);

/* Appends the word, quoted for sh. */
void config_shell_word(struct buf *out, const char *word);

#endif
