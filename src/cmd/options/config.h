/* The project file .rolldbg.json: default options of commands, and named environments. The servers
   of an mcp.json are named environments too. See rolldbg-config(5). Settings are options, applied
   to a command's option table before its command line. */
#pragma once

#include "base/mem.h"
#include "cmd/options/config_file.h"

/* A setting that was applied, and its origin. */
struct applied {
	const struct opt *opt;
	const char *value; /* as written; "" for a flag */
	const char *origin;
};

/* The configuration of one command. */
struct config {
	const struct context *context;
	const struct command *command;
	const struct opt *opts; /* the command's, expanded */
	size_t opt_count;
	struct arena arena; /* option values borrow from it */
	struct config_file file;
	/* a command that only looks, and a file that was found: a setting that is wrong or not
	   permitted is passed over with a warning */
	bool lenient;
	bool no_defaults;        /* the command's defaults are passed over */
	struct secrets *secrets; /* values of variables; NULL: none yet */
	struct applied *applied;
	size_t applied_count;
};

/* Finds the project file and checks its keys. FAIL_INPUT, with the line. Call config_release in any
   case. */
MUST_USE int config_open(struct config *f, struct error *err);
void config_release(struct config *f);

/* Applies the command's defaults. FAIL_USAGE: the file needs the user's trust. */
MUST_USE int config_defaults(struct config *f, void *values, struct error *err);

/* The command refused its settings: should it run again without the defaults of a file that may not
   stop it? If so, a warning says what is passed over, and f is as before config_open, but for
   no_defaults. */
bool config_pass_over_defaults(struct config *f, const struct error *err);

/* True if `env` is the name of an environment rather than a target: staging, mcp.json#NAME. */
bool config_is_name(const struct config *f, const char *env);
/* Applies that environment, typed by the user or named by the file; *target is its target. */
MUST_USE int config_environment(struct config *f, const char *name, bool typed, void *values,
                                const char **target, struct error *err);

/* Records an option given on the command line: for struct option_listener. */
void config_note(void *ctx, const struct opt *o, const char *value);

/* Appends each setting with its value and origin; if an option has several values, the effective
   one. */
void config_print(struct config *f, const char *target, struct buf *out);

/* The option that takes one target; NULL if the command has none, or takes several. */
const struct opt *config_env_option(const struct opt *opts, size_t count);
