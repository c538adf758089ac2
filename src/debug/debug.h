/* The debugger: a prompt, or a script, over a recording or a running rollout. */
#ifndef ROLLDBG_DEBUG_DEBUG_H
#define ROLLDBG_DEBUG_DEBUG_H

#include "debug/live.h"
#include "report/report.h"

struct debug_conf {
	const char *path;                 /* the recording to look at; NULL: a live session alone */
	const char *name;                 /* of that file, for people */
	const char *rollout;              /* of it; NULL: the first */
	const struct live_target *target; /* where calls can be sent; NULL: nowhere */
	const char *const *files;         /* of commands, first */
	size_t file_count;
	const char *const *commands; /* then these */
	size_t command_count;
	bool batch;          /* then end; else read commands from standard input */
	bool dap;            /* commands are requests of the Debug Adapter Protocol (dap.c) */
	bool json;           /* answer each command with a line of JSON */
	bool quiet;          /* no greeting */
	const char *history; /* a file of lines typed before; NULL: none */
	struct style style;
	bool terminal; /* standard input and output are: a prompt, and a line editor */
	bool (*interrupted)(void *ctx); /* did a signal come? */
	/* Takes it back. false: it asks the program to end; true: it was Ctrl-C. */
	bool (*resume)(void *ctx);
	/* Writes the names of settings in a text as the options they are (base/settings.h). */
	void (*spell)(char *text, size_t n);
	/* Prints text: results, or (trouble) messages. -1 with err set ends the session. */
	int (*print)(void *ctx, bool trouble, struct str text, struct error *err);
	void *ctx;
};

/* Until the commands end, or quit. *failed: a command failed that nobody at a terminal saw.
   FAIL_INPUT: the recording cannot be used. FAIL_INTERRUPTED: by a signal; a live session was ended
   and its recording closed. */
MUST_USE int debug_run(const struct debug_conf *conf, bool *failed, struct error *err);

#endif
