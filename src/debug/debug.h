/* The debugger: commands from a prompt, a script or a client, for a recording or a live rollout. */
#ifndef ROLLDBG_DEBUG_DEBUG_H
#define ROLLDBG_DEBUG_DEBUG_H

#include "debug/live.h"
#include "report/report.h"

struct debug_conf {
	const char *path;                 /* the recording; NULL: a live session only */
	const char *name;                 /* of that file, as it is printed */
	const char *rollout;              /* of it; NULL: the first */
	const struct live_target *target; /* where calls can be sent; NULL: no live sessions */
	const char *const *files;         /* command files, run first */
	size_t file_count;
	const char *const *commands; /* run next */
	size_t command_count;
	bool batch; /* then exit; else read commands from standard input */
	bool dap;   /* serve the Debug Adapter Protocol (dap.c) instead of reading commands */
	bool json;  /* answer each command with a line of JSON */
	bool quiet; /* does not print where the session starts */
	const char *history; /* the file of the line editor's history; NULL: none */
	struct style style;
	bool terminal; /* standard input and output are one: use a prompt and a line editor */
	bool (*interrupted)(void *ctx); /* has a signal arrived? */
	/* Clears it. True: it was Ctrl-C; false: the program is to exit. */
	bool (*resume)(void *ctx);
	/* Replaces marked names of settings in a text by option names (base/settings.h). */
	void (*spell)(char *text, size_t n);
	/* Prints results, or with `trouble` error messages. -1 with err set ends the session. */
	int (*print)(void *ctx, bool trouble, struct str text, struct error *err);
	void *ctx;
};

/* Runs commands until there are no more, or quit. *failed: a command failed that was not typed at a
   terminal. FAIL_INPUT: the recording cannot be used. FAIL_INTERRUPTED: a signal arrived; the live
   session was ended and its recording closed. */
MUST_USE int debug_run(const struct debug_conf *conf, bool *failed, struct error *err);

#endif
