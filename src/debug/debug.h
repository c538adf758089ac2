/* The debugger: commands from a prompt, a script or a DAP client, for a recording or a live
   rollout. */
#pragma once

#include "debug/live.h"
#include "report/report.h"

struct debug_conf {
	const char *path;                 /* the recording; NULL: a live session only */
	const char *name;                 /* name of that file, as printed */
	const char *rollout;              /* rollout in it; NULL: the first */
	const struct live_target *target; /* where calls are sent; NULL: no live sessions */
	const char *const *files;         /* command files, run first */
	size_t file_count;
	const char *const *commands; /* commands to run after the files */
	size_t command_count;
	bool batch; /* exit after them; otherwise reads commands from standard input */
	bool dap;   /* serve the Debug Adapter Protocol (dap.c) instead of reading commands */
	bool json;  /* answer each command with a JSON line */
	bool quiet; /* do not print the start position */
	const char *history; /* history file of the line editor; NULL: none */
	struct style style;
	/* standard input and output are a terminal: use a prompt and a line editor */
	bool terminal;
	bool (*interrupted)(void *ctx); /* true after a signal arrived */
	/* Clears the signal. True after Ctrl-C; false: the program has to exit. */
	bool (*resume)(void *ctx);
	/* Replaces marked setting names in a text by option names (base/settings.h). */
	void (*spell)(char *text, size_t n);
	/* Prints results or, if `trouble`, error messages. -1 with err set ends the session. */
	int (*print)(void *ctx, bool trouble, struct str text, struct error *err);
	void *ctx;
};

struct debug_result {
	bool failed;   /* a command failed that was not typed at a terminal */
	bool diverged; /* a repeated session differed from the recording */
};

/* Runs commands until the end of input, or quit. FAIL_INPUT: the recording cannot be used.
   FAIL_INTERRUPTED: a signal arrived; the live session was ended and its recording closed. */
MUST_USE int debug_run(const struct debug_conf *conf, struct debug_result *result,
                       struct error *err);
