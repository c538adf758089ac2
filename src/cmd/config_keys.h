/* The keys of a project file. Keys of an environment and of a command's defaults are option
   names. */
#ifndef ROLLDBG_CMD_CONFIG_KEYS_H
#define ROLLDBG_CMD_CONFIG_KEYS_H

#include "cmd/cmd.h"
#include "json/keyed.h"

/* The option for a key such as max_turns; NULL: no such option. */
const struct opt *config_option_of(const struct opt *opts, size_t count, struct str key);

/* Readers of the objects under those keys (keyed_fn): refuse unknown keys. */
MUST_USE int config_check_environments(struct keyed *k, struct str environments, void *to);
MUST_USE int config_check_defaults(struct keyed *k, struct str defaults, void *to);

#endif
