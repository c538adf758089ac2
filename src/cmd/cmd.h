/* What a command is: an entry in cmds.def, a table of options, one function. Dispatch,
   help, the manual and the completions derive from these. */
#ifndef ROLLDBG_CMD_CMD_H
#define ROLLDBG_CMD_CMD_H

#include "base/clock.h"
#include "base/options.h"
#include "report/report.h"

#define ROLLDBG_VERSION "0.1.0"

/* What enters through main only: time, the wish to stop, environment variables, the
 * terminal. */
struct context {
	struct clock clock;
	void (*catch_stop)(void); /* from now on signals ask for an orderly end */
	int stop_fd;              /* readable once a signal asked us to stop */
	const char *(*variable)(const char *name); /* getenv */
	struct style style;                        /* of standard output */
	size_t stderr_columns; /* 0: standard error is no terminal, or a dumb one */
	bool quiet;            /* -q */
	const struct command *command; /* once it is known */
};

struct command {
	const char *name, *summary;     /* one line, starts with a verb */
	const char *operands;           /* "[FILE...]"; "" when there are none */
	const char *description;        /* paragraphs for --help, wrapped there */
	int min_operands, max_operands; /* -1: any number */
	const struct opt *opts;
	size_t opt_count, opts_size;
	bool hidden;
	bool network; /* talks to peers: a broken pipe must not kill it before it has said
	                 goodbye */
	/* The exit code, or -1 with err set. */
	int (*run)(const struct context *c, const void *opts, int argc, char **argv,
	           struct error *err);
};

extern const struct command *const commands[];
extern const size_t commands_count;

extern const struct opt global_options[];
extern const size_t global_options_count;

/* Exit codes, for the manual. */
struct exit_code {
	int code;
	const char *meaning;
};
extern const struct exit_code exit_codes[];
extern const size_t exit_codes_count;

/* Parses and runs argv[1..]: the exit code, or -1 with err set. */
int command_main(struct context *c, int argc, char **argv, struct error *err);

/* The command of that name, or FAIL_USAGE with the nearest name. */
MUST_USE int command_find(struct str name, const struct command **out, struct error *err);

/* Help texts, as --help prints them. */
void help_command(const struct command *cmd, struct buf *out);
void help_all(struct buf *out);
/* The line below a usage error; cmd is NULL where no command was understood. */
void help_hint(const struct command *cmd, struct buf *out);

#endif
