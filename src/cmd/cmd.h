/* The directory cmd/: the command line. One file per command and a row in cmds.def; only this
   directory contains option names. Code shared by two commands belongs in a lower layer. */

/* A command is a row in cmds.def, a table of options, and a function. Dispatch, help, the
   manual and the completions derive from these. */
#pragma once

#include "base/clock.h"
#include "base/wake.h"
#include "cmd/options/options.h"
#include "report/report.h"

#define ROLLDBG_VERSION "0.1.0"

/* Provided by main: time, stop signals, environment variables, the terminal. */
struct context {
	struct clock clock;
	void (*catch_stop)(void); /* after this, signals request an orderly stop */
	/* returns and clears the signal that requested it, for commands that continue after
	   Ctrl-C */
	int (*take_stop)(void);
	struct wake stop;                          /* raised once a signal requested a stop */
	const char *(*variable)(const char *name); /* getenv */
	struct style style;                        /* of standard output */
	/* 0: standard error is not a terminal, or is a dumb one */
	size_t stderr_columns;
	bool quiet;                    /* -q */
	bool no_pager;                 /* --no-pager */
	bool print_config;             /* --print-config */
	const char *config;            /* --config; NULL: not given */
	char **typed;                  /* the arguments, as typed; NULL-terminated, borrowed */
	const struct command *command; /* NULL until the command line is parsed */
	bool started; /* the command line is correct: errors are not about its syntax */
};

/* What the file of a command has. */
struct command_code {
	const struct opt *opts;
	size_t opt_count, opts_size;
	/* Returns the exit code, or -1 with err set. */
	int (*run)(const struct context *c, const void *opts, int argc, char **argv,
	           struct error *err);
};

/* A command whose options are cmd/tables/ID.def, and one without options. */
#define CODE(id)                                                                                   \
	const struct command_code id##_code = {id##_opts, ARRAY_LEN(id##_opts),                    \
	                                       sizeof(struct id##_options), id##_main};
#define CODE_ONLY(id) const struct command_code id##_code = {.run = id##_main};

struct command {
	const struct command_code *code;
	const char *name, *summary;     /* summary: one line, starts with a verb */
	const char *operands;           /* "[FILE...]"; "" if there are none */
	const char *description;        /* paragraphs for --help, which wraps them */
	int min_operands, max_operands; /* -1: any number */
	bool hidden;
	bool no_config;  /* takes no settings from files */
	bool recordings; /* operands such as @2 name recordings in the state directory */
	/* acts: connects to peers, so SIGPIPE must not kill it before its sessions are closed; the
	   others look at recordings, and no file of settings may stop them */
	bool network;
};

extern const struct command commands[];
extern const size_t commands_count;

extern const struct option_group global_group;

/* Exit codes, for the manual. */
struct exit_code {
	int code;
	const char *meaning;
};
extern const struct exit_code exit_codes[];
extern const size_t exit_codes_count;

/* Parses and runs argv[1..]; returns the exit code, or -1 with err set. */
int command_main(struct context *c, int argc, char **argv, struct error *err);

/* Finds a command by name; FAIL_USAGE with the nearest name. */
MUST_USE int command_find(struct str name, const struct command **out, struct error *err);
/* FAIL_USAGE: no command was given; lists them. Returns -1. */
int command_none(struct error *err);

/* Prints help for a command, or for all if it is NULL. subject NULL: the options that most people need,
   or all if these are few; "all"; or a group of options. FAIL_USAGE: no such group. */
MUST_USE int help_print(const struct command *cmd, const char *subject, struct error *err);
/* Appends the hint below a usage error; cmd is NULL if no command was recognized. */
void help_hint(const struct command *cmd, struct buf *out);
