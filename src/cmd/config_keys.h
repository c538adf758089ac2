/* The keys of a project file: those of an environment and of a command's defaults are options. */
#ifndef ROLLDBG_CMD_CONFIG_KEYS_H
#define ROLLDBG_CMD_CONFIG_KEYS_H

#include "cmd/cmd.h"
#include "json/keyed.h"

/* The option that a key such as max_turns stands for; NULL: none of these. */
const struct opt *config_option_of(const struct opt *opts, size_t count, struct str key);

/* Readers of the objects under those keys (keyed_fn): are all keys in them known? */
MUST_USE int config_check_environments(struct keyed *k, struct str environments, void *to);
MUST_USE int config_check_defaults(struct keyed *k, struct str defaults, void *to);

#endif
