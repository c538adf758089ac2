/* The state of a debugging session, shared by the commands. */
#pragma once

#include "debug/cursor.h"
#include "debug/debug.h"
#include "debug/points.h"

/* The place where a finding begins. */
struct finding_begin {
	const char *rule;
	int64_t turn, step; /* -1: none; without both, the finding is about the whole rollout */
};

struct debugger {
	const struct debug_conf *conf;
	struct buf out; /* output of the current command */
	struct cursor *cursor;
	struct live *live; /* NULL: no live session */
	/* the current step, with facts that a live session has not recorded yet */
	struct moment now;
	struct buf hashing;  /* scratch */
	char live_hash[64];  /* hash of a state not recorded yet, in quotes */
	struct buf proposed; /* the next call as a line */
	bool forked;
	bool diverged;              /* a repeated session differed from the recording */
	struct json_paths *ignored; /* ignored in states */
	struct points points;
	struct finding_begin *begins; /* for the whole recording; read when first needed */
	size_t begin_count;
	bool begins_known;
	struct buf last_command;
	size_t column;    /* of an error in the current command's arguments; SIZE_MAX: none */
	struct buf value; /* raw JSON result of print or tools, for the JSON interpreter and DAP */
	bool moved;       /* the current command moved */
	bool starting;    /* no command was run: print the start position */
	bool quit;
	/* True once per stop request of the DAP client; NULL: no client. */
	bool (*client_asks_stop)(void *ctx);
	void *client;
	bool scripted;               /* commands come from options */
	bool stopped;                /* by a signal: the program has to exit */
	int64_t listed, listed_here; /* where list continues, and the step at its last use */
	int depth;                   /* nesting of command files */
};

enum debug_mode { MODE_REC, MODE_LIVE, MODE_FORK };
/* The mode of the current step: in a recording, or the newest one of a live session or a fork. */
enum debug_mode debugger_mode(const struct debugger *d);
const char *debug_mode_name(enum debug_mode m);

/* The current file, as printed. */
const char *debugger_file(const struct debugger *d);
/* The facts that expressions are evaluated on. */
struct known debugger_known(struct debugger *d);
/* Updates d->now from the cursor. */
void debugger_refresh(struct debugger *d);
/* True if the running command should stop; polled during long reads. d is a struct debugger. */
bool debugger_is_interrupted(void *d);
/* False if a signal requires the program to exit; a signal that only stopped a command is
   cleared. */
bool debugger_goes_on(struct debugger *d);
/* Waits until the live session proposes a call or is over; returns whether that was interrupted. */
bool debugger_wait(struct debugger *d);
/* Reads lines recorded since, and moves to the newest step. */
MUST_USE int debugger_to_newest(struct debugger *d, struct error *err);
/* Opens a rollout of a recording, replacing the current one. */
MUST_USE int debugger_open(struct debugger *d, const char *path, const char *rollout,
                           struct error *err);
/* Determines where findings begin in the whole recording, for breakpoints on rules. */
MUST_USE int debugger_judge(struct debugger *d, struct error *err);
/* Live: notes rules whose finding is new at this step. */
MUST_USE int debugger_note_new_findings(struct debugger *d, struct error *err);
/* Called once with the verdict of a rollout; its slices are valid during the call. */
typedef void judged_fn(void *user, const struct rollout_verdict *v);
/* Calls back with the findings up to the current step. */
MUST_USE int debugger_findings(struct debugger *d, judged_fn *take, void *user, struct error *err);

/* Prints how the live session ended, its verdict, and the path of its recording. */
MUST_USE int live_session_report(struct debugger *d, struct error *err);
/* Starts a live session with the policy of the options; stops before the first call. */
MUST_USE int live_session_begin(struct debugger *d, struct error *err);

/* ---- stop.c: what is printed at a stop ---- */

void stop_print(struct debugger *d);
/* One line: "turn 3 · step 3  lake_move action=DOWN  ok  reward 0". */
void stop_title(const struct moment *m, struct style style, struct buf *out);
/* "state: position 4 -> 8". */
void stop_changes(struct debugger *d, size_t most, struct buf *out);
void stop_proposal(struct debugger *d);
/* All of it as a JSON object. */
struct json_writer;
void stop_json(struct debugger *d, struct json_writer *w);

/* ---- look.c ---- */

/* The i-th argument of info; NULL after the last. */
const char *info_topic(size_t i);

/* ---- running commands ---- */

/* Runs one command line. -1 with err set; d->column is the column of the error in the line. */
MUST_USE int run_command(struct debugger *d, struct str line, struct error *err);
/* Runs one line and prints its output, as text or JSON. *failed: the command failed. Returns -1 if
   the output cannot be printed. */
MUST_USE int run_and_print(struct debugger *d, struct str line, bool *failed, struct error *err);

/* ---- verbs ---- */

enum verb_group { GROUP_MOVE, GROUP_LOOK, GROUP_STOP, GROUP_LIVE, GROUP_OTHER, VERB_GROUPS };

struct verb {
	const char *name;
	/* comma-separated; these take precedence over prefixes of any name */
	const char *short_forms;
	const char *arguments, *help;
	enum verb_group group;
	bool repeats; /* an empty line on a terminal repeats it */
	int how;      /* in what it differs from other verbs of the same function */
	int (*run)(struct debugger *d, int how, struct str arguments, struct error *err);
};
extern const struct verb verbs[];
extern const size_t verbs_count;

/* Finds a command by name, short form or unambiguous prefix. FAIL_USAGE. */
MUST_USE int verb_find(struct str word, const struct verb **out, struct error *err);
/* Appends a verb's short forms, as in "c, fg". */
void verb_short_forms(const struct verb *v, struct buf *out);

#define VERB(id, ...)                                                                              \
	int verb_##id(struct debugger *d, int how, struct str arguments, struct error *err);
#define ALSO(...)
#include "debug/verbs.def"
#undef VERB
#undef ALSO

enum travel_how { TRAVEL_STEPS, TRAVEL_TURNS, TRAVEL_ON, TRAVEL_TO_END }; /* of verb_step */

/* ---- arguments of verbs ---- */

/* Removes and returns the first word. */
struct str argument_word(struct str *rest);
/* FAIL_USAGE if any arguments are left. */
MUST_USE int argument_none(struct str rest, struct error *err);
/* Reads a count of at least 1; the default is 1. */
MUST_USE int argument_count(struct str rest, int64_t *out, struct error *err);
/* Reads "N", "step N" or "turn N". */
MUST_USE int argument_place(struct str rest, bool *turn, int64_t *out, struct error *err);

/* Moves to that step or turn. FAIL_USAGE if there is none. */
MUST_USE int go_to_place(struct debugger *d, bool turn, int64_t number, struct error *err);

/* ---- command_input.c: commands from a terminal (with a line editor) or a pipe ---- */

/* Reads and runs commands until the end of input, or quit. *failed: a command from a pipe
   failed. */
MUST_USE int lines_read(struct debugger *d, bool *failed, struct error *err);

/* ---- dap.c ---- */

/* Serves the Debug Adapter Protocol until the client disconnects. FAIL_INPUT: malformed input. */
MUST_USE int dap_serve(struct debugger *d, struct error *err);
