/* The project file .rolldbg.json: default options of commands, and named environments; and the
   servers of an mcp.json, which are named environments as well. See rolldbg-config(5). Settings are
   options, applied to a command's option table before its command line. */
#ifndef ROLLDBG_CMD_CONFIG_H
#define ROLLDBG_CMD_CONFIG_H

#include "base/mem.h"
#include "cmd/cmd.h"

/* A setting that was applied, and where it comes from. */
struct applied {
	const struct opt *opt;
	const char *value; /* as spelled there; "" for a flag */
	const char *origin;
};

/* What is read and applied for one command. */
struct config {
	const struct context *context;
	const struct command *command;
	const struct opt *opts; /* of the command, expanded */
	size_t opt_count;
	struct arena arena; /* values borrow from it */
	const char *path;   /* of the project file; NULL: there is none */
	const char *folder; /* that it is in */
	struct str text;
	struct applied *applied;
	size_t applied_count;
};

/* Finds the project file, from the working folder upwards (or where ROLLDBG_CONFIG says), and checks
   its keys. One that belongs to another user is not used, which is said. FAIL_INPUT, with the line.
   Release it in any case. */
MUST_USE int config_open(struct config *f, struct error *err);
void config_release(struct config *f);

/* Applies the defaults of the command. */
MUST_USE int config_defaults(struct config *f, void *values, struct error *err);

/* Is that a name, and not a target: staging, mcp.json#NAME? */
bool config_is_name(const struct config *f, const char *env);
/* Applies that environment; *target is what its name stands for. */
MUST_USE int config_environment(struct config *f, const char *name, void *values,
                                const char **target, struct error *err);

/* Records that the command line said so: a note of options_parse_noting. */
void config_note(void *ctx, const struct opt *o, const char *value);

/* Appends each setting with its value and origin: of several values of an option that counts. */
void config_print(const struct config *f, const char *target, struct buf *out);

/* The option that takes one target: NULL if the command has none, or takes several. */
const struct opt *config_env_option(const struct opt *opts, size_t count);

#endif
