/* What a file of settings may set. One that was named (--config, ROLLDBG_CONFIG) may set
   everything, one that was found only what is harmless, until the user trusts it; for commands that
   only look never more. */
#ifndef ROLLDBG_CMD_OPTIONS_CONFIG_CLASS_H
#define ROLLDBG_CMD_OPTIONS_CONFIG_CLASS_H

#include "cmd/options/config_file.h"
#include "json/tree.h"

/* The class of a command's setting with that value: that of its option,
   unless the value says more. */
enum opt_class config_class(const struct command *cmd, const struct opt *o, const cJSON *value);
/* The same for a key that is no option: the header of an environment, or its target. */
enum opt_class config_class_of_header(const cJSON *value);
enum opt_class config_class_of_target(const cJSON *value);

/* True if the value of an env option names a setting of a file rather than a target: FILE#NAME. */
bool config_is_in_file(const char *env);

/* May the file give the setting k->key? FAIL_USAGE, with the cure. */
MUST_USE int config_permit(const struct context *c, const struct config_file *f, struct keyed *k,
                           enum opt_class class);

#endif
